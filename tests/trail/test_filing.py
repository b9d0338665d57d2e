"""Looking a claim up by its key while entries are being gathered."""

from __future__ import annotations

from tallystick.model.entry import EntryKind
from tallystick.store.memory import MemoryStore
from tallystick.testing.trails import trail_over


def test_a_key_is_found_while_entries_wait() -> None:
    """TIME.12: a claim filed under a key is found at once, and looking writes nothing that is still being gathered."""
    with trail_over(MemoryStore()).writing() as appender:
        rows = appender.rows
        written = rows.head().size
        claim = appender.add(EntryKind.ASSERTED, {"text": b"The port is 8443."}, holder="7" * 32)
        assert appender.same(b"key") is None
        rows.file([(b"key", claim)])
        assert appender.same(b"key") == claim
        assert rows.head().size == written
        assert appender.rows.head().size == written + 1
