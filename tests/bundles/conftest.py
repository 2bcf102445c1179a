"""A web server for each test."""

from collections.abc import Iterator

import httpx
import pytest

from console.bundles.fetch import client
from tests.bundles.web import Web, serving
from tests.hosts.conftest import data, sshd

__all__ = ["data", "sshd"]


@pytest.fixture
def web() -> Iterator[Web]:
    with serving() as one:
        yield one


@pytest.fixture
def http(monkeypatch: pytest.MonkeyPatch) -> Iterator[httpx.Client]:
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with client() as one:
        yield one
