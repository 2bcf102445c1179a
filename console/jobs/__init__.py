"""Carrying plans out: jobs, their states, and the worker."""
