"""tallystick: agent memory you can audit. The command is ``tally``; the layers are described in ARCHITECTURE.md."""

__version__ = "0.1.0"
