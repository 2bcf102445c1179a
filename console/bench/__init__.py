"""Measuring a server: load, figures and verdicts."""
