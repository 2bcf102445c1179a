"""The real engine of the end-to-end tests, for the few tests here that ask it."""

from tests.e2e.conftest import built

__all__ = ["built"]
