"""Extractors: events in, candidates out. None of them can set trust."""
