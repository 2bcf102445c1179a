"""Nothing that a model writes makes the browser fetch from another server."""

import asyncio

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from console.surface.gate import Gate

SECRET = "s" * 40


def get(path: str) -> httpx.Response:
    """What a reader who was let in gets."""
    inner = Starlette(routes=[Route("/", lambda _request: PlainTextResponse("page"))])
    transport = httpx.ASGITransport(Gate(inner, SECRET, 8501))

    async def asked() -> httpx.Response:
        cookies = {"pilot_8501": SECRET}
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8501", cookies=cookies) as client:
            return await client.get(path)

    return asyncio.run(asked())


@pytest.mark.parametrize("path", ["/", "/nowhere"])
def test_pictures_come_from_the_console_only(path: str) -> None:
    rules = dict(rule.strip().split(" ", 1) for rule in get(path).headers["content-security-policy"].split(";"))
    assert rules["img-src"].split() == ["'self'", "data:", "blob:"]
    assert rules["media-src"] == rules["img-src"]
