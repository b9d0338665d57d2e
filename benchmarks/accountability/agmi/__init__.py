"""The attacks of the public suite agmi (PyPI ``agent-memory-integrity``) against a real trail (TRAIL.10).

``at_rest`` runs the nine edits of a store's own files, T1 to T9, by attackers who know more and more; ``asking`` runs the
attacks through the API; ``sqlite_place`` is all that is known here of how SQLite keeps a trail.
"""
