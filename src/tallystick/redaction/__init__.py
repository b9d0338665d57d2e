"""Takes secrets out of texts, events and facts before they are stored or printed, and says how many of which kind (EVID.9)."""

from tallystick.redaction.events import redact_event, redact_strings
from tallystick.redaction.texts import REDACTOR, Redaction, redact

__all__ = ["REDACTOR", "Redaction", "redact", "redact_event", "redact_strings"]
