"""Measures of speed, quality and accountability; each prints figures that can be committed with their date."""
