"""Embedders held to what they are."""
