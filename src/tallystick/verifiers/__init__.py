"""Verifiers: claim and evidence in, verdict out; pure, and able only to lower trust (QUOTE, OUTCOME)."""
