"""Transcript readers: one file per harness, bytes in, events out."""
