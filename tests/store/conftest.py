"""The fixture ``tally``: the command line over a trail of its own."""

from __future__ import annotations

from tests.cli.conftest import tally

__all__ = ["tally"]
