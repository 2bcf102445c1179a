"""What the two hubs offer of a model: their addresses, how their lists of files are read, which files are wanted.

Hugging Face: /api/models/ID/tree/REVISION?recursive=true, in pages (header Link), and /ID/resolve/REVISION/PATH
(huggingface_hub/hf_api.py, file_download.py). ModelScope: /api/v1/models/ID/repo/files?Revision=&Recursive=true and
/api/v1/models/ID/repo?Revision=&FilePath= (modelscope/hub/api.py, file_download.py).
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from urllib.parse import quote, urljoin

from console.catalog.knowledge import known
from console.errors import HostError, InvalidInput, NotFound
from console.text import say, verbatim

_MODEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9][A-Za-z0-9._-]*")
_REVISION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]*")
_ENDPOINT = re.compile(r"https?://[A-Za-z0-9.:\[\]-]+(/[A-Za-z0-9._~/-]*)?")
_DIGEST = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_NEXT = re.compile(r'<([^<>]+)>\s*;\s*rel="?next"?')
OTHER_FORMATS = (".bin", ".pt", ".pth", ".gguf", ".h5", ".msgpack", ".onnx", ".ot", ".tflite")
OTHER_FOLDERS = ("original/", "onnx/", "openvino/", "coreml/", "metal/")


class Hub(StrEnum):
    MODELSCOPE = "modelscope"
    HUGGINGFACE = "huggingface"


@dataclass(frozen=True)
class Remote:
    """One model at one hub. endpoint: the hub's address or that of a mirror, without a slash at the end."""

    hub: Hub
    model: str
    revision: str
    endpoint: str

    @property
    def name(self) -> str:
        return self.model.rsplit("/", 1)[1]


@dataclass(frozen=True)
class HubFile:
    """A file of a model. `size` in bytes; `digest`: SHA-256, or of small files at Hugging Face the SHA-1 that Git makes
    of it, as hexadecimal digits; "" where the hub names none."""

    path: str
    size: int
    digest: str = ""


def remote(hub: str, model: str, revision: str = "", endpoint: str = "") -> Remote:
    """What is asked for, with the usual revision and address where none is named. InvalidInput says what cannot be."""
    if hub not in set(Hub):
        raise InvalidInput(say("{hub} is no hub we know. There are: {hubs}.", hub=verbatim(hub), hubs=", ".join(Hub)))
    model, revision = model.strip().strip("/"), revision.strip()
    if not _MODEL.fullmatch(model):
        raise InvalidInput(
            say("A model is named as OWNER/NAME, such as deepseek-ai/DeepSeek-R1-Distill-Qwen-14B: {model}",
                model=verbatim(model or "-"))
        )  # fmt: skip
    revision = revision or ("main" if hub == Hub.HUGGINGFACE else "master")
    if not _REVISION.fullmatch(revision) or ".." in revision:
        raise InvalidInput(say("{revision} is no revision of a model.", revision=verbatim(revision)))
    endpoint = (endpoint.strip() or usual_endpoint(Hub(hub))).rstrip("/")
    if not _ENDPOINT.fullmatch(endpoint):
        raise InvalidInput(
            say("The address of a hub begins with http:// or https://, without a user or password: {address}",
                address=verbatim(endpoint))
        )  # fmt: skip
    return Remote(Hub(hub), model, revision, endpoint)


def usual_endpoint(hub: Hub) -> str:
    """As the catalog has it, where a user can change it."""
    return known().places[hub.value].address or ""


def list_address(one: Remote) -> str:
    revision = quote(one.revision, safe="")
    if one.hub == Hub.HUGGINGFACE:
        return f"{one.endpoint}/api/models/{one.model}/tree/{revision}?recursive=true"
    return f"{one.endpoint}/api/v1/models/{one.model}/repo/files?Revision={revision}&Recursive=true"


def file_address(one: Remote, path: str) -> str:
    revision = quote(one.revision, safe="")
    if one.hub == Hub.HUGGINGFACE:
        return f"{one.endpoint}/{one.model}/resolve/{revision}/{quote(path)}"
    return f"{one.endpoint}/api/v1/models/{one.model}/repo?Revision={revision}&FilePath={quote(path, safe='')}"


def next_page(address: str, link: str) -> str:
    """The address of the next page by the header Link; "" after the last. HostError when it leads to another server."""
    found = _NEXT.search(link)
    if found is None:
        return ""
    there: str = urljoin(address, found[1])
    if there.split("/")[:3] != address.split("/")[:3]:
        raise HostError(say("The list goes on at another server than it began: {address}", address=there))
    return there


def read_list(one: Remote, body: str) -> list[HubFile]:
    """The files of one page. HostError when it is no such list."""
    try:
        told = json.loads(body)
        if one.hub == Hub.HUGGINGFACE:
            if not isinstance(told, list):
                raise ValueError(told.get("error"))
            return [_of_huggingface(row) for row in told if row["type"] == "file"]
        if told.get("Data") is None:
            raise ValueError(told.get("Message") or told.get("Code"))
        return [_of_modelscope(row) for row in told["Data"]["Files"] or () if row.get("Type") != "tree"]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise HostError(
            say(
                "{address} did not answer with the list of files of a model: {error}. Is it the address of a hub?",
                address=one.endpoint,
                error=str(error)[:200],
            )
        ) from error


def wanted(one: Remote, files: Iterable[HubFile]) -> list[HubFile]:
    """Those a server needs, config.json last: without it a folder is no model yet. NotFound without safetensors."""
    found = list(files)
    for file in found:
        _check(file)
    if not any(file.path.endswith(".safetensors") for file in found):
        raise NotFound(
            say(
                "{model} has no weights in the safetensors format at {address}. Take another version of it.",
                model=one.model,
                address=one.endpoint,
            )
        )
    kept = [file for file in found if _is_wanted(file.path)]
    return sorted(kept, key=lambda file: (file.path == "config.json", file.path))


def listed(one: Remote, files: Sequence[HubFile]) -> str:
    """As the scripts read it: size, digest or -, address, path; with tabs between them."""
    return "".join(
        f"{file.size}\t{file.digest or '-'}\t{file_address(one, file.path)}\t{file.path}\n" for file in files
    )


def _of_huggingface(row: Any) -> HubFile:
    large = row.get("lfs")
    if large:
        return HubFile(str(row["path"]), int(large["size"]), _digest(large["oid"]))
    return HubFile(str(row["path"]), int(row["size"]), _digest(row.get("oid")))


def _of_modelscope(row: Any) -> HubFile:
    return HubFile(str(row["Path"]), int(row["Size"]), _digest(row.get("Sha256")))


def _digest(value: object) -> str:
    words = str(value or "").lower().removeprefix("sha256:")
    return words if _DIGEST.fullmatch(words) else ""


def _is_wanted(path: str) -> bool:
    if path.startswith((".", *OTHER_FOLDERS)) or path.endswith(OTHER_FORMATS):
        return False
    return not (path.startswith("consolidated") and path.endswith(".safetensors"))  # the same weights once more


def _check(file: HubFile) -> None:
    """What a hub says is a name here."""
    strange = file.path.startswith("/") or any(ord(sign) < 32 or ord(sign) == 127 for sign in file.path)
    if strange or not file.path or file.size < 0 or {"", ".", ".."} & set(file.path.split("/")):
        raise HostError(say("The hub names a file that cannot be: {path}", path=verbatim(repr(file.path)[:200])))
