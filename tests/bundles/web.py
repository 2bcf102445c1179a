"""A web server that knows ranges and can be told to misbehave, and a package index in it."""

import hashlib
import http.server
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any


@dataclass
class Web:
    """`files` by path. `cut`: bytes after which an answer breaks off, for as many answers as it has entries;
    `codes`: what the next answers say instead; `asked`: path and Range of every request, `seen`: their headers."""

    address: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)
    cut: list[int] = field(default_factory=list)
    codes: list[int] = field(default_factory=list)
    ranges: bool = True
    asked: list[tuple[str, str]] = field(default_factory=list)
    seen: list[dict[str, str]] = field(default_factory=list)
    sent: int = 0

    def url(self, path: str) -> str:
        return f"{self.address}{path}"

    def index(self, name: str, *files: tuple[str, bytes], json: bool = True) -> None:
        """Offer these files of a project below /simple, as JSON or as a page."""
        for file, content in files:
            self.files[f"/files/{file}"] = content
        if json:
            rows = ", ".join(
                f'{{"filename": "{file}", "url": "../../files/{file}", "size": {len(content)}, '
                f'"hashes": {{"sha256": "{hashlib.sha256(content).hexdigest()}"}}}}'
                for file, content in files
            )
            self.files[f"/simple/{name}/"] = f'{{"files": [{rows}]}}'.encode()
            self.types[f"/simple/{name}/"] = "application/vnd.pypi.simple.v1+json"
        else:
            links = "".join(
                f'<a href="../../files/{file.replace("+", "%2B")}#sha256={hashlib.sha256(content).hexdigest()}">x</a>'
                for file, content in files
            )
            self.files[f"/simple/{name}/"] = f"<html><body>{links}</body></html>".encode()
            self.types[f"/simple/{name}/"] = "text/html"


@contextmanager
def serving() -> Iterator[Web]:
    web = Web()

    class Answer(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            path, wanted = self.path.replace("%2B", "+"), self.headers.get("Range", "")
            web.asked.append((path, wanted))
            web.seen.append(dict(self.headers))
            if path not in web.files or web.codes:
                self.send_error(web.codes.pop(0) if web.codes else 404)
                return
            content = web.files[path]
            tag = f'"{hashlib.sha256(content).hexdigest()[:16]}"'
            begin = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted and web.ranges else 0
            if self.headers.get("If-Range", tag) != tag:
                begin = 0
            if begin >= len(content) > 0:
                self.send_response(416)
                self.send_header("Content-Range", f"bytes */{len(content)}")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            self.send_response(206 if begin else 200)
            if begin:
                self.send_header("Content-Range", f"bytes {begin}-{len(content) - 1}/{len(content)}")
            self.send_header("ETag", tag)
            self.send_header("Content-Type", web.types.get(path, "application/octet-stream"))
            self.send_header("Content-Length", str(len(content) - begin))
            self.end_headers()
            body = content[begin:]
            if web.cut and not path.startswith("/simple/"):
                body = body[: web.cut.pop(0)]
                self.close_connection = True
            self.wfile.write(body)
            web.sent += len(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    server.daemon_threads = True
    web.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield web
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def wheel(name: str, version: str, tag: str = "py3-none-any") -> tuple[str, bytes]:
    """A small real wheel: its file name and content."""
    made, info = BytesIO(), f"{name}-{version}.dist-info"
    with zipfile.ZipFile(made, "w") as packed:
        packed.writestr(f"{name}/__init__.py", f"version = {version!r}\n")
        packed.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        packed.writestr(f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: {tag}\n")
        packed.writestr(f"{info}/RECORD", f"{name}/__init__.py,,\n{info}/WHEEL,,\n{info}/RECORD,,\n")
    return f"{name}-{version}-{tag}.whl", made.getvalue()


def below(folder: Path) -> list[str]:
    """Every file of a folder, hidden ones too."""
    return sorted(one.relative_to(folder).as_posix() for one in folder.rglob("*") if one.is_file())
