"""Hypothesis profiles: ``default`` for every run (deterministic in CI), ``fuzz`` for ``make fuzz``."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

# The machine is shared, so how long an example takes says nothing about the code.
_SLOW_MACHINE = [HealthCheck.too_slow, HealthCheck.data_too_large]

settings.register_profile(
    "default",
    deadline=None,
    max_examples=60,
    derandomize=bool(os.environ.get("CI")),
    suppress_health_check=_SLOW_MACHINE,
)
settings.register_profile(
    "fuzz", deadline=None, max_examples=2_000, print_blob=True, suppress_health_check=_SLOW_MACHINE
)
settings.load_profile("default")


@pytest.fixture(scope="session", autouse=True)
def _servers() -> Iterator[None]:
    """The PostgreSQL servers that tests started are stopped after the last of them."""
    yield
    from tests.store.postgres_server import let_go

    let_go()
