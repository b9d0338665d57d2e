"""Stores: where a trail's three logs, their parts, the archive and the views are kept. ``memory`` is the reference."""
