"""Every exception that leaves tallystick, in one tree. Problems in a user's data are values, not these.

::

    TallyError                     one line: what, and what to do
    ├── UsageError                 the caller's mistake; the command exits 2
    │   ├── UnknownId
    │   ├── NotATranscript
    │   ├── NeedsPersonsKey
    │   ├── UndoRefused
    │   └── BadTime
    ├── MachineError               the machine or the store failed; exit 3
    │   ├── TrailLocked
    │   ├── TrailUnwritable
    │   ├── TrailUnreadable
    │   └── NewerFormat
    ├── CanonicalError             a value that canonical JSON refuses (TRAIL.2)
    ├── ProofError                 a Merkle proof or signed note that does not hold
    └── ConcurrentAppend           the log moved on; read again and retry
"""

from __future__ import annotations


class TallyError(Exception):
    """Root of the tree. The message is one line that names the thing and what to do."""

    exit_code = 2


class UsageError(TallyError):
    """The call is wrong or its input is; the message says what was expected."""


class UnknownId(UsageError):
    """No such claim, session or entry. List what there is with ``tally replay`` or ``tally recall``."""


class NotATranscript(UsageError):
    """No reader recognises the file. The message says what was looked for."""


class NeedsPersonsKey(UsageError):
    """The act touches a person's words or an approval, and only the person's key may do that."""


class UndoRefused(UsageError):
    """Later entries touched the same claims; the message names them. Undo those first."""


class BadTime(UsageError):
    """A naive, impossible, future or reversed time. The message says which and what form is expected."""


class MachineError(TallyError):
    """The machine or the store could not do it; nothing was half-written."""

    exit_code = 3


class TrailLocked(MachineError):
    """Another process is writing: it holds the lock for longer than the timeout, or what was asked for may still change.
    Try again, or see who it is."""


class TrailUnwritable(MachineError):
    """Disk full, read-only, or no permission. Free space or choose another folder with ``--trail``."""


class TrailUnreadable(MachineError):
    """The trail's files cannot be opened or are not a trail. Run ``tally verify``; restore a backup."""


class NewerFormat(MachineError):
    """The trail was written by a newer tallystick. Upgrade this one."""


class CanonicalError(TallyError, ValueError):
    """A value that canonical JSON does not allow: a float, a large integer, a lone surrogate, a non-string key."""


class ProofError(TallyError, ValueError):
    """A proof or a signed note does not hold; the message says at which step."""


class ConcurrentAppend(TallyError):
    """The log no longer holds the expected number of leaves. Read again and retry."""
