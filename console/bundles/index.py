"""Which file of a package index is the one for a host: by its architecture, Python and glibc, not by this machine's."""

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import unquote, urldefrag, urljoin

import httpx
from packaging.tags import Tag, compatible_tags, cpython_tags
from packaging.utils import InvalidSdistFilename, InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import InvalidVersion, Version

from console.errors import NotFound, Unreachable
from console.text import Text, say, verbatim

ACCEPT = "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1"
_LINK = re.compile(r"<a\b[^>]*?\bhref\s*=\s*[\"']([^\"']+)[\"']", re.IGNORECASE)
PATIENCE = 2
"""Times in a row that an index may fail to answer."""
_OLD = {17: "manylinux2014", 12: "manylinux2010", 5: "manylinux1"}


@dataclass(frozen=True)
class Wish:
    """One line of a pinned list; `sha256`: the hashes it allows, none for any."""

    name: str
    version: str
    sha256: frozenset[str] = frozenset()

    def __str__(self) -> str:
        return f"{self.name}=={self.version}"


@dataclass(frozen=True)
class Link:
    """A file an index offers. `sha256` "": it does not tell."""

    file: str
    url: str
    sha256: str
    size: int | None


def tags(arch: str, python: str, glibc: str) -> list[Tag]:
    """The tags of wheels that such a host takes, best first."""
    major, minor = (int(part) for part in python.split(".")[:2])
    newest = int(glibc.split(".")[1])
    platforms = [
        name
        for number in range(newest, 4, -1)
        for name in (f"manylinux_2_{number}_{arch}", *([f"{_OLD[number]}_{arch}"] if number in _OLD else []))
    ]
    platforms.append(f"linux_{arch}")
    interpreter = f"cp{major}{minor}"
    return [
        *cpython_tags((major, minor), [interpreter], platforms),
        *compatible_tags((major, minor), interpreter, platforms),
    ]


def wishes(text: str) -> list[Wish]:
    """The lines `name==version` of a pinned list as pip and uv write it, with their hashes."""
    found = []
    for line in re.sub(r"\\\s*\n", " ", text).splitlines():
        match = re.match(r"\s*([A-Za-z0-9][\w.-]*)(?:\[[^]]*\])?==([\w.+!-]+)", line)
        if match:
            hashes = frozenset(re.findall(r"--hash=sha256:([0-9a-f]{64})", line))
            found.append(Wish(canonicalize_name(match[1]), match[2], hashes))
    return found


class Index:
    """Package indexes, asked one after the other; each project's list is read once.

    An index that gave no answer PATIENCE times in a row is not asked any more: where packets are lost in silence, each
    question would take as long as a person is willing to wait for all of them.
    """

    def __init__(self, http: httpx.Client, addresses: Sequence[str]) -> None:
        self.http, self.addresses = http, [one.rstrip("/") for one in addresses]
        self.known: dict[tuple[str, str], list[Link]] = {}
        self.silent: dict[str, int] = {}
        self.errors: dict[str, str] = {}

    def wheel(self, wish: Wish, accepted: Sequence[Tag]) -> Link:
        """The best wheel for a host. NotFound names what there is instead, and the indexes that could not be asked;
        Unreachable: no index could be asked."""
        order = {tag: place for place, tag in enumerate(accepted)}
        ranked = [(rank, link) for link in self._links(wish.name) if (rank := _rank(link, wish, order)) is not None]
        if fits := [one for one in ranked if one[0] > 0]:
            return min(fits, key=lambda one: one[0])[1]
        raise NotFound(self._absent(wish, [link.file for _, link in ranked]))

    def _absent(self, wish: Wish, others: Sequence[str]) -> Text:
        package, there = verbatim(str(wish)), verbatim(", ".join(others[:4]))
        if not others:
            why = say("No index that was asked has {package}.", package=package)
        elif all(one.endswith((".tar.gz", ".zip")) for one in others):
            why = say(
                "{package} is published as source only. There is: {others}. Make its wheel on a machine like the host "
                "(pip wheel --no-deps {package}), then put it here.",
                package=package,
                others=there,
            )
        else:
            why = say(
                "{package} has no wheel for this host in the indexes that were asked. There is: {others}",
                package=package,
                others=there,
            )
        if not self.errors:
            return why
        return say(
            "{why} Not asked, since it could not be reached from here: {indexes}. Fetch the wheel on a machine that "
            "reaches it, then put it here.",
            why=why,
            indexes=verbatim(", ".join(self.errors)),
        )

    def source(self, wish: Wish) -> Link:
        """The source archive of a release."""
        wanted = {f"{wish.name}-{wish.version}.tar.gz", f"{wish.name.replace('-', '_')}-{wish.version}.tar.gz"}
        for link in self._links(wish.name):
            if link.file in wanted:
                return link
        raise NotFound(say("No index has the source archive of {package}.", package=verbatim(str(wish))))

    def _links(self, name: str) -> Iterator[Link]:
        asked = 0
        for address in self.addresses:
            if self.silent.get(address, 0) >= PATIENCE:
                continue
            try:
                yield from self._project(address, name)
            except httpx.HTTPError as error:
                self.errors[address] = str(error) or type(error).__name__
                self.silent[address] = self.silent.get(address, 0) + 1
            else:
                asked += 1
                self.silent[address] = 0
                self.errors.pop(address, None)
        if not asked:
            errors = "; ".join(f"{address}: {error}" for address, error in self.errors.items())
            raise Unreachable(say("No package index could be asked about {name}: {errors}", name=name, errors=errors))

    def _project(self, address: str, name: str) -> list[Link]:
        key = (address, name)
        if key not in self.known:
            answer = self.http.get(f"{address}/{name}/", headers={"Accept": ACCEPT})
            if answer.status_code in (404, 403):
                self.known[key] = []
            else:
                answer.raise_for_status()
                self.known[key] = _read(answer)
        return self.known[key]


def _rank(link: Link, wish: Wish, order: dict[Tag, int]) -> int | None:
    """From 1 on, the best first; -1: the release, but not for this host; None: not this release."""
    try:
        _, version, _, tags_of = parse_wheel_filename(link.file)
        same = version == Version(wish.version) or str(version).partition("+")[0] == wish.version
    except (InvalidWheelFilename, InvalidSdistFilename, InvalidVersion):
        return -1 if f"-{wish.version}.tar.gz" in link.file else None
    if not same:
        return None
    places = [order[tag] for tag in tags_of if tag in order]
    if not places or (wish.sha256 and link.sha256 and link.sha256 not in wish.sha256):
        return -1
    return 1 + min(places)


def _read(answer: httpx.Response) -> list[Link]:
    base = str(answer.url)
    if "json" in answer.headers.get("content-type", ""):
        return [
            Link(one["filename"], urljoin(base, one["url"]), one.get("hashes", {}).get("sha256", ""), one.get("size"))
            for one in answer.json().get("files", [])
        ]
    return [_link(base, html.unescape(href)) for href in _LINK.findall(answer.text)]


def _link(base: str, href: str) -> Link:
    url, fragment = urldefrag(urljoin(base, href))
    told = re.fullmatch(r"sha256=([0-9a-f]{64})", fragment)
    return Link(unquote(url.rsplit("/", 1)[-1]), url, told[1] if told else "", None)
