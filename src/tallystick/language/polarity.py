"""Negation and its scope (CHECK.6), and the modal words that change what is claimed (QUOTE.7)."""

from __future__ import annotations


def negations(text: str) -> tuple[str, ...]:
    """The negating words of ``text`` in order, lower-cased and expanded (``don't`` → ``not``, ``never``, ``no``,
    ``without``, ``n't``)."""
    raise NotImplementedError


def modals(text: str) -> tuple[str, ...]:
    """The modal words of ``text`` in order, lower-cased (``must``, ``should``, ``may``, ``might``, ``will``, ``can`` …)."""
    raise NotImplementedError


def polarity(sentence: str) -> int:
    """``+1`` or ``-1``: whether the main predicate is affirmed or denied; "no longer asleep" and "isn't unreachable" are
    negations of a negative word and so ``+1`` of being up is not concluded here, only the count of negations in scope."""
    raise NotImplementedError
