"""Workflows: one file per thing the product does. They see protocols only; ``plugins`` hands them implementations."""
