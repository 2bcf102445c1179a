"""Bundles built from a small real index and dropped files, then verified: each class of damage is named."""

import hashlib
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import httpx
import pytest

from console.bundles import manifest
from console.bundles.build import build
from console.bundles.contents import ByHand, Contents, Download
from console.bundles.index import Index, Wish, tags, wishes
from console.bundles.manifest import Manifest, Order
from console.bundles.verify import Trouble, verify
from console.errors import InvalidInput, NotFound, Unreachable
from console.text import say
from tests.bundles.web import Web, below, wheel
from tests.house.tree import ROOT

sys.path.insert(0, str(ROOT / "scripts" / "fake"))
import make_package  # type: ignore[import-not-found]

ORDER = Order("0.23.0", "0.23.0", "9.1.0", "A2", "ubuntu-22.04", "aarch64", "3.11", "2.35", "venv")
WHY = say("It lies behind a login on the support site of the vendor. Fetch it there under just this name.")
DRIVER = "Ascend-hdk-910b-npu-driver_25.5.1_linux-aarch64.run"


def contents(*names: str, by_hand: Sequence[str] = (), downloads: Sequence[Download] = ()) -> Contents:
    wished = tuple(wishes("\n".join(names)))
    return Contents(ORDER, tuple(ByHand(name, "driver", WHY) for name in by_hand), tuple(downloads), wished)


@pytest.fixture
def make(http: httpx.Client, web: Web, tmp_path: Path) -> Callable[..., Manifest]:
    def one(wanted: Contents, **more: object) -> Manifest:
        return build(tmp_path / "包", wanted, http, [web.url("/simple")], **more)  # type: ignore[arg-type]

    return one


def missing(whole: Manifest) -> dict[str, str]:
    return {one.path: str(one.why) for one in whole.missing}


def troubles(folder: Path) -> dict[str, str]:
    return {one.path: one.trouble for one in verify(folder)}


# -- wheels --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("json", [True, False])
def test_the_wheel_of_the_host_is_chosen_not_that_of_this_machine(
    web: Web, http: httpx.Client, make: Callable[..., Manifest], tmp_path: Path, json: bool
) -> None:
    offered = [
        wheel("thing", "1.2.0", tag)
        for tag in (
            "cp311-cp311-manylinux_2_17_x86_64", "cp312-cp312-manylinux_2_17_aarch64",
            "cp311-cp311-manylinux_2_38_aarch64", "cp311-cp311-manylinux_2_17_aarch64.manylinux2014_aarch64",
            "cp311-cp311-manylinux_2_28_aarch64", "cp311-cp311-musllinux_1_2_aarch64",
        )
    ]  # fmt: skip
    web.index("thing", wheel("thing", "1.1.0"), *offered, json=json)
    whole = make(contents("thing==1.2.0"))
    assert [one.path for one in whole.files] == ["wheels/thing-1.2.0-cp311-cp311-manylinux_2_28_aarch64.whl"]
    content = (tmp_path / "包" / whole.files[0].path).read_bytes()
    assert whole.files[0].sha256 == hashlib.sha256(content).hexdigest()
    assert whole.files[0].source == web.url("/files/thing-1.2.0-cp311-cp311-manylinux_2_28_aarch64.whl")
    assert verify(tmp_path / "包") == []


def test_local_versions_and_spellings_of_names_are_found(web: Web, http: httpx.Client) -> None:
    web.index("torch", wheel("torch", "2.10.0+cpu", "cp311-cp311-manylinux_2_28_x86_64"), json=False)
    index = Index(http, [web.url("/simple")])
    accepted = tags("x86_64", "3.11", "2.35")
    wanted = "torch-2.10.0+cpu-cp311-cp311-manylinux_2_28_x86_64.whl"
    assert index.wheel(wishes("torch==2.10.0+cpu")[0], accepted).file == wanted
    assert index.wheel(wishes("Torch==2.10.0")[0], accepted).file == wanted
    assert wishes("a.b_C[x]==1 ; python_version > '3'\n# d==1\nnot a line") == [Wish("a-b-c", "1")]


def test_a_hash_of_the_list_counts(web: Web, make: Callable[..., Manifest]) -> None:
    file, content = wheel("thing", "1.2.0")
    web.index("thing", (file, content))
    whole = make(contents(f"thing==1.2.0 \\\n    --hash=sha256:{'0' * 64}"))
    assert list(missing(whole)) == ["wheels/thing-1.2.0-*.whl"]
    whole = make(contents(f"thing==1.2.0 --hash=sha256:{hashlib.sha256(content).hexdigest()}"))
    assert missing(whole) == {}


def test_a_package_that_is_only_source_is_named_with_what_there_is(web: Web, make: Callable[..., Manifest]) -> None:
    web.index("arctic-inference", ("arctic_inference-0.1.1.tar.gz", b"x"))
    web.index("thing", wheel("thing", "1.2.0"))
    whole = make(contents("arctic-inference==0.1.1", "thing==1.2.0", "nowhere==1"))
    assert [one.path for one in whole.files] == ["wheels/thing-1.2.0-py3-none-any.whl"]
    why = missing(whole)["wheels/arctic_inference-0.1.1-*.whl"]
    assert "source only. There is: arctic_inference-0.1.1.tar.gz" in why
    assert "pip wheel --no-deps arctic-inference==0.1.1" in why
    assert set(missing(whole)) == {"wheels/arctic_inference-0.1.1-*.whl", "wheels/nowhere-1-*.whl"}


def test_a_wheel_that_was_brought_by_hand_counts(web: Web, make: Callable[..., Manifest], tmp_path: Path) -> None:
    (tmp_path / "包" / "wheels").mkdir(parents=True)
    name, content = wheel("arctic_inference", "0.1.1", "cp311-cp311-linux_aarch64")
    (tmp_path / "包" / "wheels" / name).write_bytes(content)
    whole = make(contents("arctic-inference==0.1.1"))
    assert missing(whole) == {}
    assert [(one.path, one.source) for one in whole.files] == [(f"wheels/{name}", "brought by hand")]


def test_the_second_index_helps_out_and_none_is_told(web: Web, http: httpx.Client) -> None:
    web.index("thing", wheel("thing", "1.2.0"))
    accepted = tags("aarch64", "3.11", "2.35")
    dead = "http://127.0.0.1:1/simple"
    assert Index(http, [dead, web.url("/simple")]).wheel(Wish("thing", "1.2.0"), accepted).file
    with pytest.raises(Unreachable, match=r"No package index could be asked.*127\.0\.0\.1:1"):
        Index(http, [dead]).wheel(Wish("thing", "1.2.0"), accepted)
    with pytest.raises(NotFound, match=r"No index that was asked has thing==9\. Not asked.*127\.0\.0\.1:1") as told:
        Index(http, [dead, web.url("/simple")]).wheel(Wish("thing", "9"), accepted)
    assert "on a machine that reaches it" in str(told.value.text)
    with pytest.raises(NotFound) as complete:
        Index(http, [web.url("/simple")]).wheel(Wish("thing", "9"), accepted)
    assert str(complete.value.text) == "No index that was asked has thing==9."


def test_an_index_that_is_silent_is_not_asked_for_every_package(web: Web) -> None:
    tried: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        tried.append(request.url.host)
        raise httpx.ConnectTimeout("timed out")

    with httpx.Client(transport=httpx.MockTransport(answer)) as quiet:
        index = Index(quiet, ["http://lost.example/simple"])
        for number in range(20):
            with pytest.raises(Unreachable, match=r"lost\.example.*timed out"):
                index.wheel(Wish(f"thing{number}", "1"), tags("aarch64", "3.11", "2.35"))
    assert len(tried) == 2


def test_building_again_fetches_only_what_is_missing(web: Web, make: Callable[..., Manifest]) -> None:
    web.index("thing", wheel("thing", "1.2.0"))
    first = make(contents("thing==1.2.0", "other==1"))
    web.index("other", wheel("other", "1"))
    web.asked.clear()
    second = make(contents("thing==1.2.0", "other==1"))
    assert [path for path, _ in web.asked] == ["/simple/other/", "/files/other-1-py3-none-any.whl"]
    assert second.entry(first.files[0].path) == first.files[0]
    assert missing(second) == {}


# -- what a person brings ------------------------------------------------------------------------------------


def package(folder: Path, name: str, *how: str, **more: object) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    made: Path = make_package.write(*how, folder / name, size_mb=0.02, **more)
    return made


def test_what_a_person_must_bring_is_named_until_it_is_there(make: Callable[..., Manifest], tmp_path: Path) -> None:
    whole = make(contents(by_hand=[DRIVER]))
    assert missing(whole) == {DRIVER: str(WHY)}
    assert troubles(tmp_path / "包") == {DRIVER: Trouble.TO_BRING}
    package(tmp_path / "包", DRIVER, "driver", "25.5.1", "910b")
    assert "`pilot bundle take` looks at it" in str(verify(tmp_path / "包")[0].text)
    whole = make(contents(by_hand=[DRIVER]))
    assert [(one.path, one.source) for one in whole.files] == [(DRIVER, "brought by hand")]
    assert verify(tmp_path / "包") == []


def test_a_login_page_instead_of_a_driver_is_told(make: Callable[..., Manifest], tmp_path: Path) -> None:
    (tmp_path / "包").mkdir()
    (tmp_path / "包" / DRIVER).write_text("<!DOCTYPE html><title>Log in</title>")
    assert "no installer but a web page" in missing(make(contents(by_hand=[DRIVER])))[DRIVER]


def test_a_damaged_driver_is_told(make: Callable[..., Manifest], tmp_path: Path) -> None:
    path = package(tmp_path / "包", DRIVER, "driver", "25.5.1", "910b")
    content = bytearray(path.read_bytes())
    content[-5] ^= 1
    path.write_bytes(content)
    assert "its content is not what its own checksum says" in missing(make(contents(by_hand=[DRIVER])))[DRIVER]


def test_a_firmware_under_the_name_of_a_driver_is_told(make: Callable[..., Manifest], tmp_path: Path) -> None:
    package(tmp_path / "包", DRIVER, "firmware", "7.8.0.6.201", "910b")
    assert "calls itself" in missing(make(contents(by_hand=[DRIVER])))[DRIVER]


@pytest.mark.parametrize("damage", ["none", "cut", "changed"])
def test_a_header_of_makeself_is_read(make: Callable[..., Manifest], tmp_path: Path, damage: str) -> None:
    payload = bytes(range(256)) * 40
    lines = ["#!/bin/sh", f'MD5="{hashlib.md5(payload).hexdigest()}"', f'SHA="{"0" * 64}"', 'label="ASCEND DRIVER"',
             f'filesizes="{len(payload)}"', 'offset=`head -n 7 "$0" | wc -c`', "exit 0", ""]  # fmt: skip
    if damage != "none":
        payload = payload[:-10] if damage == "cut" else b"x" + payload[1:]
    (tmp_path / "包").mkdir()
    (tmp_path / "包" / DRIVER).write_bytes("\n".join(lines).encode() + payload)
    said = missing(make(contents(by_hand=[DRIVER])))
    assert {"none": not said, "cut": "cut short" in str(said), "changed": "is damaged" in str(said)}[damage]


def test_packages_of_cann_are_fetched_with_their_header(
    web: Web, make: Callable[..., Manifest], tmp_path: Path
) -> None:
    name = "Ascend-cann-toolkit_9.1.0_linux-aarch64.run"
    web.files[f"/CANN/{name}"] = package(tmp_path / "there", name, "toolkit", "9.1.0", "all").read_bytes()
    gone = "Ascend-cann-nnal_9.1.0_linux-aarch64.run"
    wanted = [
        Download(one, "cann", web.url(f"/CANN/{one}"), {"Referer": "https://example.com/"}) for one in (name, gone)
    ]
    whole = make(contents(downloads=wanted))
    assert [(one.path, one.kind) for one in whole.files] == [(name, "cann")]
    assert "HTTP 404" in missing(whole)[gone]
    assert web.seen[0]["Referer"] == "https://example.com/"


# -- verifying -----------------------------------------------------------------------------------------------


def test_every_class_of_damage_is_named(web: Web, make: Callable[..., Manifest], tmp_path: Path) -> None:
    for name in ("a", "b", "c", "d"):
        web.index(name, wheel(name, "1"))
    folder = tmp_path / "包"
    make(contents("a==1", "b==1", "c==1", "d==1", "e==1"))
    where = folder / "wheels"
    (where / "a-1-py3-none-any.whl").unlink()
    (where / "b-1-py3-none-any.whl").write_bytes(b"short")
    changed = bytearray((where / "c-1-py3-none-any.whl").read_bytes())
    changed[50] ^= 1
    (where / "c-1-py3-none-any.whl").write_bytes(changed)
    (where / "x-1-cp311-cp311-manylinux_2_17_x86_64.whl").write_bytes(b"")
    (folder / "Ascend-cann-310p-ops_9.1.0_linux-aarch64.run").write_bytes(b"")
    (folder / "notes.txt").write_text("x")
    (folder / "big.run.part").write_text("x")
    assert troubles(folder) == {
        "wheels/a-1-py3-none-any.whl": "missing",
        "wheels/b-1-py3-none-any.whl": "damaged",
        "wheels/c-1-py3-none-any.whl": "damaged",
        "wheels/e-1-*.whl": "to_bring",
        "wheels/x-1-cp311-cp311-manylinux_2_17_x86_64.whl": "foreign",
        "Ascend-cann-310p-ops_9.1.0_linux-aarch64.run": "foreign",
        "notes.txt": "unexpected",
        "big.run.part": "partial",
    }


@pytest.mark.parametrize(
    "change",
    [
        {"format": 2},
        {"files": [{"path": "../x", "size": 1, "sha256": "0" * 64, "kind": "wheel", "source": ""}]},
        {"files": [{"path": "/x", "size": 1, "sha256": "0" * 64, "kind": "wheel", "source": ""}]},
        {"files": [{"path": "x", "size": 1, "sha256": "; rm", "kind": "wheel", "source": ""}]},
        {"for": {}},
    ],
)
def test_a_manifest_from_elsewhere_is_not_trusted(
    make: Callable[..., Manifest], tmp_path: Path, change: dict[str, object]
) -> None:
    make(contents())
    path = tmp_path / "包" / manifest.NAME
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(InvalidInput, match="cannot be read"):
        verify(tmp_path / "包")


def test_no_bundle_is_told(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="holds no bundle"):
        verify(tmp_path)


def test_weights_come_along(make: Callable[..., Manifest], tmp_path: Path) -> None:
    model = tmp_path / "模型"
    (model / ".cache").mkdir(parents=True)
    (model / "config.json").write_text("{}")
    (model / ".cache" / "x").write_text("x")
    whole = make(contents(), weights=model)
    assert [(one.path, one.kind) for one in whole.files] == [("weights/模型/config.json", "weights")]
    assert below(tmp_path / "包") == ["manifest.json", "weights/模型/config.json"]
