"""Tells whether a cut in a text goes through a word or a number: "limit is 3" does not stand in "limit is 30" (QUOTE.2)."""

from __future__ import annotations

import unicodedata


def is_word(char: str) -> bool:
    """Whether ``char`` belongs to a word of a script that puts spaces between words."""
    return (char.isalnum() or char == "_") and not is_unspaced(char)


def is_unspaced(char: str) -> bool:
    """Whether ``char`` is of a script without spaces between words, where a quote may begin at any character."""
    return char > "\u0dff" and (
        "\u0e00" <= char <= "\u0eff"  # Thai, Lao
        or "\u1000" <= char <= "\u109f"  # Myanmar
        or "\u1780" <= char <= "\u17ff"  # Khmer
        or "\u2e80" <= char <= "\u9fff"  # kana, ideographs
        or "\uf900" <= char <= "\ufaff"
        or "\uff66" <= char <= "\uff9f"
        or "\U00020000" <= char <= "\U000323af"
    )


def cuts_word(text: str, at: int) -> bool:
    """Whether a cut before ``text[at]`` goes through a word or a number; ``text`` is folded.

    A word owns its apostrophe ("can" does not stand in "can't"). A number owns its sign, currency and percent sign,
    and the points, commas, colons, slashes and hyphens between its digits.
    """
    if at <= 0 or at >= len(text):
        return False
    left, right = text[at - 1], text[at]
    if is_word(left) and is_word(right):
        return True
    if not right.isascii() and unicodedata.category(right)[0] == "M":
        return True
    further_left = text[at - 2] if at > 1 else " "
    further_right = text[at + 1] if at + 1 < len(text) else " "
    if right == "'":
        return left.isalpha() and further_right.isalpha()
    if left == "'":
        return right.isalpha() and further_left.isalpha()
    if right.isdigit():
        return _number_begins_before(left, further_left)
    return left.isdigit() and (right in "%‰°" or (right in ".,:/-–−" and further_right.isdigit()))


def _number_begins_before(left: str, further_left: str) -> bool:
    """Whether ``left``, which stands right before a digit, is part of its number."""
    if left in "-+−–$€£¥±":
        return True
    return left in ".,:/" and (further_left.isdigit() or (left == "." and further_left.isspace()))
