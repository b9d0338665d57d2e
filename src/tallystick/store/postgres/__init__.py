"""Trails in a PostgreSQL database: many in one, each seen only by the sessions that are bound to it."""

try:
    import psycopg  # noqa: F401
except ImportError as missing:
    from tallystick.errors import UsageError

    raise UsageError(
        f"a trail at postgresql://… needs psycopg 3 ({missing}); install it with: pip install 'tallystick[postgres]'"
    ) from None

from tallystick.store.postgres.store import PostgresStore

__all__ = ["PostgresStore"]
