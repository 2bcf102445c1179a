"""URL BEGIN OUT HEAD: what curl does where there is no curl. Prints the status; a token comes on standard input."""

import contextlib
import errno
import http.client
import os
import sys
import urllib.error
import urllib.request
from typing import Any, NoReturn, Optional

url, begin, out, head = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
token = sys.stdin.readline().strip()


def end(code: int, words: object) -> NoReturn:
    """The reason goes into a file that a full disk may refuse as well; the code must not depend on it."""
    with contextlib.suppress(OSError):
        os.write(2, f"{words}\n".encode())
    os._exit(code)


def tell(status: int) -> None:
    os.write(1, f"{status}\n".encode())


class Careful(urllib.request.HTTPRedirectHandler):
    """A token goes to the hub alone, not to the store it redirects to."""

    def redirect_request(
        self, req: urllib.request.Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> Optional[urllib.request.Request]:  # noqa: UP045  (hosts may have an old Python)
        new = urllib.request.HTTPRedirectHandler.redirect_request(self, req, fp, code, msg, headers, newurl)
        if new is not None and token and new.host == req.host and new.type == req.type:
            new.add_unredirected_header("Authorization", "Bearer " + token)
        return new


request = urllib.request.Request(url, headers={"User-Agent": "ascend-pilot", "Accept-Encoding": "identity"})
if begin:
    request.add_header("Range", f"bytes={begin}-")
if token:
    request.add_unredirected_header("Authorization", "Bearer " + token)
try:
    answer = urllib.request.build_opener(Careful).open(request, timeout=60)
    tell(answer.status)
    with open(head, "wb", 0) as file:
        file.write("".join(f"{name}: {value}\r\n" for name, value in answer.headers.items()).encode())
    if begin and answer.status != 206:
        end(33, "the server sends no ranges")
    with open(out, "ab", 0) as file:
        while True:
            block = answer.read(1 << 20)
            if not block:
                break
            while block:
                block = block[file.write(block) :]
except urllib.error.HTTPError as error:
    tell(error.code)
    end(22, f"HTTP {error.code} {error.reason}")
except (http.client.HTTPException, OSError) as error:
    end(23 if getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT) else 18, error)
