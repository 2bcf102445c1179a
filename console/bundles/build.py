"""Filling a bundle folder: what is there stays, what can be had is fetched, what is missing is named."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import httpx
from packaging.tags import Tag

from console.bundles import brought, image, manifest, vendor, vllm_wheel
from console.bundles.brought import joined
from console.bundles.contents import ByHand, Contents, Download
from console.bundles.copying import copied, listed, wheel_of
from console.bundles.fetch import Address, Told, fetch, require_room
from console.bundles.index import Index, Link, Wish, tags
from console.bundles.manifest import WEIGHTS, WHEELS, Entry, Manifest, Missing
from console.errors import ConsoleError, DataError, InvalidInput, NotFound, Unreachable
from console.hosts.transfer import sha256_of
from console.text import say

KINDS = ("driver", "firmware", "cann", "wheel", "image", "weights")


@dataclass
class Filling:
    """One run over a folder: what was found so far."""

    folder: Path
    contents: Contents
    http: httpx.Client
    indexes: Sequence[str]
    told: Told
    mirror: str = ""
    before: Manifest | None = None
    files: dict[str, Entry] = field(default_factory=dict)
    missing: list[Missing] = field(default_factory=list)

    def run(self, weights: Path | None) -> Manifest:
        self.before = manifest.read(self.folder)
        for each in self.contents.by_hand:
            self._brought(each)
        for one in self.contents.downloads:
            self._try(one.path, one.kind, partial(self._download, one))
        self._wheels()
        if self.contents.image is not None:
            self._try(self.contents.image_path, "image", self._image)
        if weights is not None:
            self._weights(weights)
        return self._written()

    # -- one kind after the other ----------------------------------------------------------------------------

    def _brought(self, one: ByHand) -> None:
        """What a person drops into the folder, judged by its name, its header and its size."""
        path = self._dropped(one.path)
        if path is None:
            likely = list(brought.alike(self.folder, one.path, self.contents.order))
            self.missing.append(Missing(one.path, one.kind, joined([*likely, one.why])))
            return
        wrong_file = vendor.wrong_with(path, self.contents.order)
        if wrong_file is not None:
            self.missing.append(Missing(one.path, one.kind, wrong_file))
            return
        self._take(path, one.kind, "brought by hand")

    def _dropped(self, wanted: str) -> Path | None:
        """The file of that name; where the version is not known, the one that fits but for it."""
        if "<" not in wanted:
            path = self.folder / wanted
            return path if path.is_file() else None
        begin, _, end = wanted.partition("<version>")
        found = [one for one in self.folder.glob("*.run") if one.name.startswith(begin) and one.name.endswith(end)]
        return found[0] if len(found) == 1 else None

    def _download(self, one: Download) -> None:
        path = self.folder / one.path
        if not path.is_file():
            fetch(self.http, Address(one.url, headers=one.headers), path, told=self.told)
        if (wrong := vendor.damage(path)) is not None:
            path.unlink()
            raise InvalidInput(wrong)
        self._take(path, one.kind, one.url)

    def _wheels(self) -> None:
        index = Index(self.http, self.indexes)
        if self.contents.vllm:
            self._try(f"{WHEELS}/{self._vllm_name}", "wheel", partial(self._vllm, index))
        accepted = tags(self.contents.order.arch, self.contents.order.python, self.contents.order.glibc)
        found: list[Link] = []
        for wish in self.contents.wheels:
            there = wheel_of(self.folder / WHEELS, wish, accepted)
            if there is not None:
                self._take(there, "wheel", self._source_before(there) or "brought by hand")
                continue
            name = f"{wish.name.replace('-', '_')}-{wish.version}-*.whl"
            self._try(f"{WHEELS}/{name}", "wheel", partial(self._find, index, wish, accepted, found))
        require_room(self.folder, sum(link.size or 0 for link in found))
        for link in found:
            self._try(f"{WHEELS}/{link.file}", "wheel", partial(self._wheel, link))
        if self.contents.unlisted:
            self.missing.append(
                Missing(
                    f"{WHEELS}/",
                    "wheel",
                    say(
                        "The catalog has no complete list of packages for this stack, so only its own pins are here. "
                        "Give the list of an environment that works (pip freeze) with --list, then build again."
                    ),
                )
            )

    def _find(self, index: Index, wish: Wish, accepted: Sequence[Tag], found: list[Link]) -> None:
        try:
            found.append(index.wheel(wish, accepted))
        except (NotFound, Unreachable) as error:
            wrong = brought.wheels_alike(self.folder / WHEELS, wish, self.contents.order)
            raise type(error)(joined([*wrong, error.text])) from error

    def _wheel(self, link: Link) -> None:
        path = self.folder / WHEELS / link.file
        fetch(self.http, Address(link.url, link.sha256, link.size), path, told=self.told)
        self._take(path, "wheel", link.url)

    @property
    def _vllm_name(self) -> str:
        return f"vllm-{self.contents.vllm}+empty-py3-none-any.whl"

    def _vllm(self, index: Index) -> None:
        wish = Wish("vllm", self.contents.vllm)
        path = self.folder / WHEELS / self._vllm_name
        if not path.is_file():
            link = index.source(wish)
            archive = self.folder / f".{link.file}"
            fetch(self.http, Address(link.url, link.sha256, link.size), archive, told=self.told)
            vllm_wheel.build(archive, self.contents.vllm, self.folder / WHEELS, index=self.mirror)
            archive.unlink()
        self._take(path, "wheel", f"built from vllm-{self.contents.vllm}.tar.gz with VLLM_TARGET_DEVICE=empty")

    def _image(self) -> None:
        name, path = self.contents.image or "", self.folder / self.contents.image_path
        if path.is_file():
            self._take(path, "image", self._source_before(path) or "brought by hand")
            return
        digest = image.save(name, self.contents.order.arch, path)
        self._take(path, "image", f"docker save {name} ({digest})")

    def _weights(self, source: Path) -> None:
        """A copy of a model folder; hidden files and folders of download tools stay out."""
        target = self.folder / WEIGHTS / source.resolve().name
        copies = [(one, target / one.relative_to(source)) for one in listed(source)]
        require_room(self.folder, sum(one.stat().st_size for one, copy in copies if not copy.exists()))
        for one, copy in copies:
            path = copy.relative_to(self.folder).as_posix()
            self._try(path, "weights", partial(self._copied, one, copy))

    def _copied(self, source: Path, copy: Path) -> None:
        size = source.stat().st_size
        copied(source, copy, lambda done: self.told(copy.name, done, size))
        self._take(copy, "weights", str(source))

    # -- what was found --------------------------------------------------------------------------------------

    def _try(self, path: str, kind: str, act: Callable[[], object]) -> None:
        """One file that cannot be had does not keep the others away; a full disk does."""
        try:
            act()
        except DataError:
            raise
        except ConsoleError as error:
            self.missing.append(Missing(path, kind, error.text))

    def _take(self, path: Path, kind: str, source: str) -> None:
        name = path.relative_to(self.folder).as_posix()
        self.files[name] = Entry(name, path.stat().st_size, sha256_of(path), kind, source)

    def _source_before(self, path: Path) -> str:
        entry = self.before.entry(path.relative_to(self.folder).as_posix()) if self.before else None
        return entry.source if entry else ""

    def _written(self) -> Manifest:
        files = sorted(self.files.values(), key=lambda one: (KINDS.index(one.kind), one.path))
        made = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        whole = Manifest(made, self.contents.order, tuple(files), tuple(self.missing))
        manifest.write(self.folder, whole)
        return whole


def build(
    folder: Path,
    contents: Contents,
    http: httpx.Client,
    indexes: Sequence[str],
    *,
    mirror: str = "",
    weights: Path | None = None,
    told: Told = lambda name, done, size: None,
) -> Manifest:
    """Fill `folder` and write its manifest; harmless to do again. DataError when the disk is full.

    `indexes` are asked one after the other; `mirror` is where the tools that build vLLM come from.
    """
    try:
        (folder / WHEELS).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(
            say("{path} cannot be written: {error}", path=str(folder), error=error.strerror or str(error))
        ) from error
    if weights is not None and not weights.is_dir():
        raise InvalidInput(say("{path} is no folder.", path=str(weights)))
    return Filling(folder, contents, http, indexes, told, mirror).run(weights)
