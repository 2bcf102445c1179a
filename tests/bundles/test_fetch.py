"""Fetching over HTTP from a server that breaks off, refuses, forgets ranges or has another file."""

import hashlib
import os
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from console.bundles.fetch import Address, fetch
from console.errors import DataError, InvalidInput, NotFound, Unreachable
from tests.bundles.web import Web, below

CONTENT = os.urandom(700_001)
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def address(web: Web) -> Address:
    web.files["/a/包.run"] = CONTENT
    web.files["/a/one.run"] = CONTENT
    return Address(web.url("/a/one.run"), SHA256)


def go(http: httpx.Client, address: Address, target: Path) -> list[tuple[int, int | None]]:
    heard: list[tuple[int, int | None]] = []
    fetch(http, address, target, told=lambda name, done, size: heard.append((done, size)), pause=lambda seconds: None)
    return heard


def test_a_file_is_fetched_whole(http: httpx.Client, web: Web, address: Address, tmp_path: Path) -> None:
    heard = go(http, address, tmp_path / "to" / "one.run")
    assert (tmp_path / "to" / "one.run").read_bytes() == CONTENT
    assert heard[-1] == (len(CONTENT), len(CONTENT))
    assert below(tmp_path) == ["to/one.run"]


def test_after_every_cut_it_goes_on_there(http: httpx.Client, web: Web, address: Address, tmp_path: Path) -> None:
    web.cut = [1, 200_000, 0, 300_000]
    go(http, address, tmp_path / "one.run")
    assert (tmp_path / "one.run").read_bytes() == CONTENT
    assert [wanted for _, wanted in web.asked] == ["", "bytes=1-", "bytes=200001-", "bytes=200001-", "bytes=500001-"]
    assert web.sent == len(CONTENT)


def test_nothing_new_five_times_is_given_up_and_kept(
    http: httpx.Client, web: Web, address: Address, tmp_path: Path
) -> None:
    web.cut = [1000] + [0] * 5
    with pytest.raises(Unreachable, match="could not be fetched"):
        go(http, address, tmp_path / "one.run")
    assert (tmp_path / "one.run.part").read_bytes() == CONTENT[:1000]
    assert not (tmp_path / "one.run").exists()
    go(http, address, tmp_path / "one.run")
    assert web.asked[-1] == ("/a/one.run", "bytes=1000-")
    assert (tmp_path / "one.run").read_bytes() == CONTENT


def test_a_server_without_ranges_sends_it_again(http: httpx.Client, web: Web, address: Address, tmp_path: Path) -> None:
    web.ranges, web.cut = False, [5000]
    go(http, address, tmp_path / "one.run")
    assert (tmp_path / "one.run").read_bytes() == CONTENT


def test_a_busy_server_is_asked_again(http: httpx.Client, web: Web, address: Address, tmp_path: Path) -> None:
    web.codes = [503, 429, 500]
    go(http, address, tmp_path / "one.run")
    assert (tmp_path / "one.run").read_bytes() == CONTENT


def test_what_is_not_there_is_told_with_its_address(http: httpx.Client, web: Web, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"no\.run is not to be had at http://.*/no\.run \(HTTP 404\)"):
        go(http, Address(web.url("/no.run")), tmp_path / "no.run")
    assert below(tmp_path) == []


def test_another_sha256_is_thrown_away(http: httpx.Client, web: Web, tmp_path: Path, address: Address) -> None:
    with pytest.raises(InvalidInput, match="another SHA-256"):
        go(http, Address(address.url, "0" * 64), tmp_path / "one.run")
    assert below(tmp_path) == []


def test_a_damaged_beginning_is_found_out(http: httpx.Client, web: Web, tmp_path: Path, address: Address) -> None:
    (tmp_path / "one.run.part").write_bytes(b"x" * 100)
    with pytest.raises(InvalidInput, match="another SHA-256"):
        go(http, address, tmp_path / "one.run")
    go(http, address, tmp_path / "one.run")
    assert (tmp_path / "one.run").read_bytes() == CONTENT


def test_a_beginning_of_unknown_origin_is_not_continued(
    http: httpx.Client, web: Web, tmp_path: Path, address: Address
) -> None:
    (tmp_path / "one.run.part").write_bytes(b"x" * 100)
    go(http, Address(address.url), tmp_path / "one.run")
    assert (tmp_path / "one.run").read_bytes() == CONTENT


def test_a_file_that_was_replaced_meanwhile_is_begun_anew(
    http: httpx.Client, web: Web, tmp_path: Path, address: Address
) -> None:
    web.cut = [1000] + [0] * 5
    with pytest.raises(Unreachable):
        go(http, Address(address.url), tmp_path / "one.run")
    web.files["/a/one.run"] = b"new" * 1000
    go(http, Address(address.url), tmp_path / "one.run")
    assert (tmp_path / "one.run").read_bytes() == b"new" * 1000


def test_a_beginning_longer_than_the_file_is_begun_anew(
    http: httpx.Client, web: Web, tmp_path: Path, address: Address
) -> None:
    (tmp_path / "one.run.part").write_bytes(CONTENT + b"more")
    go(http, address, tmp_path / "one.run")
    assert (tmp_path / "one.run").read_bytes() == CONTENT


def test_a_part_that_is_whole_is_only_checked(http: httpx.Client, web: Web, tmp_path: Path, address: Address) -> None:
    (tmp_path / "one.run.part").write_bytes(CONTENT)
    go(http, address, tmp_path / "one.run")
    assert web.sent == 0
    assert (tmp_path / "one.run").read_bytes() == CONTENT


def test_a_silent_server_is_asked_again(web: Web, address: Address, tmp_path: Path) -> None:
    silent = [True]

    def answer(request: httpx.Request) -> httpx.Response:
        if silent:
            silent.clear()
            raise httpx.ReadTimeout("nothing came", request=request)
        return httpx.Response(200, stream=httpx.ByteStream(CONTENT))

    with httpx.Client(transport=httpx.MockTransport(answer)) as http:
        go(http, address, tmp_path / "one.run")
    assert (tmp_path / "one.run").read_bytes() == CONTENT


def test_headers_are_sent_along(http: httpx.Client, web: Web, tmp_path: Path, address: Address) -> None:
    go(http, Address(address.url, headers={"Referer": "https://example.com/"}), tmp_path / "one.run")
    assert web.seen[-1]["Referer"] == "https://example.com/"


@pytest.fixture
def small_disk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "small"
    place.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", f"size={request.param}", "none", place]
    if os.geteuid() != 0 or subprocess.run(words, check=False).returncode != 0:
        pytest.skip("only root can mount a small disk")
    yield place
    subprocess.run(["umount", "-l", place], check=True)


@pytest.mark.parametrize("small_disk", ["300k"], indirect=True)
def test_no_room_is_told_before_anything_is_fetched(
    http: httpx.Client, web: Web, address: Address, small_disk: Path
) -> None:
    with pytest.raises(DataError, match="has no room"):
        go(http, address, small_disk / "one.run")
    assert below(small_disk) == []


@pytest.mark.parametrize("small_disk", ["66m"], indirect=True)
def test_a_disk_that_fills_up_is_told(http: httpx.Client, web: Web, address: Address, small_disk: Path) -> None:
    def somebody_else(name: str, done: int, size: int | None) -> None:
        with suppress(OSError), (small_disk / "filler").open("ab", buffering=0) as file:
            while file.write(b"x" * 65_536):
                pass

    with pytest.raises(DataError, match="is full"):
        fetch(http, address, small_disk / "one.run", told=somebody_else)
    assert not (small_disk / "one.run").exists()
    (small_disk / "filler").unlink()
    go(http, address, small_disk / "one.run")
    assert (small_disk / "one.run").read_bytes() == CONTENT
