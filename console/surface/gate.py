"""Lets in only who holds the start token: before pages, routes and the websocket alike."""

import hmac
import os
import secrets
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from console.text import Text, render, say

PARAMETER = "token"
PICTURES = "img-src 'self' data: blob:; media-src 'self' data: blob:"
LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")

REFUSED = say(
    "This console answers only to the person who started it. Open the link that it printed on its terminal; it "
    "carries a token. `pilot doctor` prints the link again."
)
WRONG_NAME = say(
    "This console answers only under localhost or 127.0.0.1. To reach it from another machine, use ssh -L."
)


def token(path: Path) -> str:
    """The start token kept at `path`, made on first use; the file is readable by its owner only."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        kept = path.read_text().strip()
        if len(kept) >= 32:
            return kept
        file = os.open(path, os.O_WRONLY | os.O_TRUNC, 0o600)
    made = secrets.token_urlsafe(32)
    with os.fdopen(file, "w") as lines:
        lines.write(made + "\n")
    return made


class Gate:
    """ASGI middleware. A request with the right `?token=` gets a cookie and is sent on without the token."""

    def __init__(self, app: ASGIApp, secret: str, port: int) -> None:
        self.app, self.secret = app, secret
        self.cookie = f"pilot_{port}"  # cookies do not tell ports apart

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        if refusal is None:
            await self.app(scope, receive, _sealed(send))
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 4403})
        else:
            await refusal(scope, receive, send)

    def _refusal(self, scope: Scope) -> Response | None:
        """None lets the request pass; a redirect carries a newcomer with the token in."""
        headers = Headers(scope=scope)
        if _name(headers.get("host", "")) not in LOOPBACK_NAMES:
            return self._no(WRONG_NAME, headers)
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc != headers.get("host"):
            return self._no(WRONG_NAME, headers)  # a page of another server on this machine, which shares our cookies
        given = parse_qsl(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True)
        offered = dict(given).get(PARAMETER)
        if scope["type"] == "http" and offered is not None and self._right(offered):
            rest = urlencode([(name, value) for name, value in given if name != PARAMETER])
            answer = RedirectResponse(scope["path"] + (f"?{rest}" if rest else ""), status_code=303)
            answer.set_cookie(self.cookie, self.secret, max_age=30 * 86400, httponly=True, samesite="lax")
            return answer
        return None if self._right(self._shown(headers)) else self._no(REFUSED, headers)

    def _shown(self, headers: Headers) -> str:
        try:
            morsel = SimpleCookie(headers.get("cookie", "")).get(self.cookie)
        except CookieError:
            return ""
        return morsel.value if morsel else ""

    def _right(self, offered: str) -> bool:
        return hmac.compare_digest(offered.encode(), self.secret.encode())

    def _no(self, words: Text, headers: Headers) -> Response:
        order = ("zh", "en") if headers.get("accept-language", "").lower().startswith("zh") else ("en", "zh")
        return PlainTextResponse("\n\n".join(render(words, language) for language in order) + "\n", status_code=403)


def _sealed(send: Send) -> Send:
    """Tell the browser to load pictures from here only: a model may write a link to one into its answer."""

    async def sealed(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).setdefault("content-security-policy", PICTURES)
        await send(message)

    return sealed


def _name(host: str) -> str:
    return host if host.endswith("]") else host.rsplit(":", 1)[0] if ":" in host else host
