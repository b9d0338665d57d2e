"""The trail over any store: append, what was believed, its history, and whether it is sound. No SQL and no ranking."""

from tallystick.trail.appending import Appender, Trail

__all__ = ["Appender", "Trail"]
