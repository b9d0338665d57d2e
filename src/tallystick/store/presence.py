"""Whether a file is there, where "may not be looked at" is no answer."""

from __future__ import annotations

import os


def is_there(path: str) -> bool:
    """Whether something stands at ``path``.

    Raises:
        OSError: it cannot be told: no permission on the way, a name that is too long, a disk that fails. A trail that may
            not be looked at is not an empty one.
    """
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True
