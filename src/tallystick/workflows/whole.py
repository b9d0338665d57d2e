"""Writing a file whole: it is there with everything, or as it was."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from pathlib import Path

from tallystick.errors import UsageError


def written_whole(file: Path, lines: Iterable[bytes], check: Callable[[Path], None] = lambda _: None) -> int:
    """Write lines beside ``file``, let ``check`` look at them there, and rename; returns how many lines there are.

    Raises:
        UsageError: the file cannot be written. Whatever ``check`` raises leaves nothing behind.
    """
    if not file.name or file.is_dir():
        raise UsageError(f"{file}: a folder; name the file to write")
    beside = file.with_name(f"{file.name}.part")
    try:
        with beside.open("wb") as stream:
            count = sum(1 for line in lines if stream.write(line))
        check(beside)
        beside.replace(file)
        return count
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}") from None
    finally:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)
