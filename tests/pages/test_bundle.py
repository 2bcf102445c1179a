"""The bundle on the Install page: what it holds, what is missing and where it goes, and the way to hosts."""

from pathlib import Path

import pytest

from console.bundles import manifest
from console.bundles.manifest import Entry, Manifest, Missing, Order
from console.hosts.inventory import Host
from console.hosts.transfer import sha256_of
from console.jobs import history
from console.text import say
from tests.hosts.said import remote
from tests.pages.page import in_language, opened, press, said

DRIVER = "Ascend-hdk-910b-npu-driver_25.5.1_linux-aarch64.run"
NAME = "Ascend-cann-toolkit_9.1.0_linux-aarch64.run"


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    folder = tmp_path / "包"
    folder.mkdir()
    (folder / NAME).write_bytes(b"x" * 3_000_000)
    order = Order("0.23.0", "0.23.0", "9.1.0", "A2", "ubuntu-22.04", "aarch64", "3.11", "2.35", "venv")
    why = say("It lies behind a login on the support site of the vendor. Fetch it there under just this name.")
    entry = Entry(NAME, 3_000_000, sha256_of(folder / NAME), "cann", "test")
    manifest.write(folder, Manifest("", order, (entry,), (Missing(DRIVER, "driver", why),)))
    return folder


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_what_it_holds_and_what_is_missing_with_its_place(host: Host, bundle: Path, lang: str) -> None:
    page = opened("install", lang=lang)
    assert "pilot bundle build" in said(page)
    page.text_input(key="bundle-folder").set_value(str(bundle)).run()
    in_language(page, lang)
    assert "0.23.0" in said(page)
    assert "2.9 MiB" in said(page)
    assert str(bundle / DRIVER) in said(page)


def test_a_folder_without_a_bundle_is_told(host: Host, tmp_path: Path) -> None:
    page = opened("install")
    page.text_input(key="bundle-folder").set_value(str(tmp_path)).run()
    assert "holds no bundle" in said(page)
    assert "bundle-push" not in {one.key for one in page.button}


def test_the_button_queues_a_job_for_each_chosen_host_and_says_why_not(host: Host, bundle: Path) -> None:
    page = opened("install")
    page.text_input(key="bundle-folder").set_value(str(bundle)).run()
    press(page, "bundle-push")
    assert [(one.kind, one.host_id, one.state) for one in history.jobs()] == [("push", host.id, "queued")]
    page.multiselect(key=f"bundle-hosts-{host.id}").set_value([]).run()
    assert page.button(key="bundle-push").disabled
    assert page.button(key="bundle-push").help == "Choose at least one host."
    (bundle / NAME).write_bytes(b"y")
    page.multiselect(key=f"bundle-hosts-{host.id}").set_value([host.id]).run()
    assert page.button(key="bundle-push").help == "Files of the bundle are missing or damaged; build it again first."


def test_a_host_the_bundle_is_not_for_is_told_before_it_is_sent(host: Host, bundle: Path) -> None:
    other = remote("other", arch="x86_64\n")
    page = opened("install")
    page.text_input(key="bundle-folder").set_value(str(bundle)).run()
    page.multiselect(key=f"bundle-hosts-{host.id}").set_value([other.id]).run()
    assert any("other · The bundle is for aarch64, this host is" in one.value for one in page.warning)
    assert not page.button(key="bundle-push").disabled


def test_what_was_brought_is_taken_in_on_the_page(host: Host, bundle: Path) -> None:
    page = opened("install")
    page.text_input(key="bundle-folder").set_value(str(bundle)).run()
    (bundle / DRIVER).write_bytes(b"#!/bin/sh\nexit 0\n")
    press(page, "bundle-take")
    assert "bundle-take" not in {one.key for one in page.button}
    assert DRIVER in {one.path for one in manifest.required(bundle).files}
