"""Embedders: texts in, vectors out, so that a search finds what says the same in other words."""
