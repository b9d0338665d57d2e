"""Contracts that every implementation of a protocol inherits as its tests; shipped so that extensions can use them."""
