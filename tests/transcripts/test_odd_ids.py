"""A session whose id is no text in its database: an error that names it, and the others are read (EVID.2)."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from tallystick.errors import UsageError
from tallystick.plugins import adapters
from tallystick.transcripts.protocol import Gatherer
from tallystick.transcripts.view import DiskView
from tests.transcripts.databases import CORPORA, database_of


@pytest.mark.parametrize("odd", ["NULL", "-1", "1e300", "x'ff'"])
@pytest.mark.parametrize(("harness", "table"), [("goose", "sessions"), ("hermes", "sessions"), ("opencode", "session")])
def test_an_odd_id(tmp_path: Path, harness: str, table: str, odd: str) -> None:
    """Whatever stands where an id is expected, each session is read or refused with an error of ours."""
    (adapter,) = (each for each in adapters() if each.name == harness)
    assert isinstance(adapter, Gatherer)
    (sql,) = sorted((CORPORA / harness).glob("*.sql"))
    path = database_of(sql, tmp_path)
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA foreign_keys = OFF")
        try:
            database.execute(f"UPDATE {table} SET id = {odd} WHERE rowid = (SELECT min(rowid) FROM {table})")
        except sqlite3.Error:
            pytest.skip("the schema of this harness refuses such an id")
    refused = []
    with DiskView() as view:
        members = list(adapter.gather(view, adapter.anchor(str(path))))
        for member in members:
            try:
                assert member.load()
            except UsageError as error:
                refused.append(str(error))
    assert members
    assert len(refused) <= 1
    assert all(str(path) in why for why in refused)
