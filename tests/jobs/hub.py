"""A hub as Hugging Face and ModelScope are: lists in pages, redirects to a store, ranges; it can misbehave."""

import hashlib
import http.server
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

TOKEN = "hf_right"


@dataclass
class PretendedHub:
    """`files` of the model lab/Tiny. `cut`: bytes after which the store breaks off, for that many answers; `slow`:
    whether it does so only after a while; `wrong`: paths whose checksum is another; `gated`: files need TOKEN;
    `tokens`: what the store was sent as Authorization."""

    files: dict[str, bytes]
    address: str = ""
    cut: list[int] = field(default_factory=list)
    ranges: bool = True
    gated: bool = False
    wrong: set[str] = field(default_factory=set)
    asked: list[tuple[str, str]] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)
    gate: threading.Event = field(default_factory=threading.Event)

    def sha256(self, path: str) -> str:
        return hashlib.sha256(self.files[path] + (b"?" if path in self.wrong else b"")).hexdigest()

    def rows(self) -> list[dict[str, object]]:
        """As Hugging Face lists them: large files with SHA-256, small ones with the SHA-1 of Git."""
        found: list[dict[str, object]] = [{"type": "directory", "path": "sub", "size": 0, "oid": "0" * 40}]
        for path, content in self.files.items():
            git = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
            row: dict[str, object] = {"type": "file", "path": path, "size": len(content), "oid": git}
            if path.endswith(".safetensors"):
                row["lfs"] = {"oid": self.sha256(path), "size": len(content), "pointerSize": 130}
            found.append(row)
        return found


class Answer(http.server.BaseHTTPRequestHandler):
    one: PretendedHub
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        at = urlsplit(self.path)
        path, asked = unquote(at.path), {key: value[0] for key, value in parse_qs(at.query).items()}
        self.one.asked.append((path, self.headers.get("Range", "")))
        if path == "/api/models/lab/Tiny/tree/main":
            self._huggingface(asked)
        elif path == "/api/v1/models/lab/Tiny/repo/files" and asked.get("Recursive") == "true":
            rows = [{"Path": path, "Type": "blob", "Size": len(content), "Sha256": self.one.sha256(path)}
                    for path, content in self.one.files.items()]  # fmt: skip
            self._json({"Code": 200, "Success": True, "Data": {"Files": rows}})
        elif path.startswith("/lab/Tiny/resolve/main/"):
            self._resolve(path.removeprefix("/lab/Tiny/resolve/main/"))
        elif path == "/api/v1/models/lab/Tiny/repo" and asked.get("Revision") == "master":
            self._resolve(asked["FilePath"])
        elif path.startswith("/store/"):
            self.one.tokens.append(self.headers.get("Authorization", ""))
            self._content(self.one.files[path.removeprefix("/store/")])
        else:
            self._json({"error": "Repository not found"}, 404)

    def _huggingface(self, asked: dict[str, str]) -> None:
        rows, page = self.one.rows(), int(asked.get("cursor", "0"))
        link = f'<{self.one.address}/api/models/lab/Tiny/tree/main?recursive=true&cursor={page + 4}>; rel="next"'
        self._json(rows[page : page + 4], link=link if page + 4 < len(rows) else "")

    def _resolve(self, path: str) -> None:
        if self.one.gated and self.headers.get("Authorization") != f"Bearer {TOKEN}":
            self._json({"error": "gated"}, 401)
        elif path not in self.one.files:
            self._json({"error": "Entry not found"}, 404)
        elif path.endswith(".safetensors"):
            self.send_response(302)
            self.send_header("Location", self.one.address.replace("127.0.0.1", "localhost") + f"/store/{path}")
            self.send_header("Content-Length", "0")
            self.end_headers()
        else:
            self._content(self.one.files[path])

    def _json(self, value: object, code: int = 200, link: str = "") -> None:
        body = json.dumps(value).encode()
        self.send_response(code)
        if link:
            self.send_header("Link", link)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _content(self, content: bytes) -> None:
        wanted = self.headers.get("Range", "")
        begin = int(wanted.removeprefix("bytes=").split("-")[0]) if wanted and self.one.ranges else 0
        self.send_response(206 if begin else 200)
        if begin:
            self.send_header("Content-Range", f"bytes {begin}-{len(content) - 1}/{len(content)}")
        self.send_header("Content-Length", str(len(content) - begin))
        self.end_headers()
        body = content[begin:]
        if self.one.cut and len(content) > 10_000:
            body = body[: self.one.cut.pop(0)]
            self.close_connection = True
            self.wfile.write(body)
            self.one.gate.wait(120)  # what came is there before the line breaks
            return
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def hub(files: dict[str, bytes]) -> Iterator[PretendedHub]:
    one = PretendedHub(files)
    answer = type("Answer", (Answer,), {"one": one})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), answer)
    server.daemon_threads = True
    one.gate.set()
    one.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield one
    finally:
        one.gate.set()
        server.shutdown()
        thread.join()
        server.server_close()
