"""Frozen values that every layer shares; nothing here computes, reads or writes."""
