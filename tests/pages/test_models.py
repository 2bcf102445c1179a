"""Models: folders of weights, added and taken off the list."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from console.hosts.inventory import Host
from console.serving import launch
from tests.pages import seed
from tests.pages.page import calm, in_language, keys, links, opened, press, said


def test_it_opens(situation: str, lang: str) -> None:
    in_language(opened("models", lang=lang), lang)


def test_without_models_it_says_what_to_do_first(host: Host) -> None:
    page = opened("models")
    assert "No model is here yet." in said(page)
    assert "Install" in links(page)


def add(page: AppTest, folder: str) -> AppTest:
    page.text_input(key="model-folder").set_value(folder)
    return calm(page.button[-1].click().run())


def test_a_folder_is_added_and_taken_off_again(host: Host, tmp_path: Path) -> None:
    folder = seed.model(tmp_path / "own")
    page = add(opened("models"), f"  {folder} ")
    assert not page.error
    assert [one.folder for one in launch.models_on(host)] == [str(folder)]
    assert "model=" in links(page)["Launch"]
    press(page, f"forget-{folder}")
    assert launch.models_on(host) == []
    assert (folder / "config.json").exists()


@pytest.mark.parametrize(
    ("folder", "why"),
    [
        ("", "whole path"),
        ("models/own", "whole path"),
        ("/nowhere/at/all", "/nowhere/at/all"),
        ("/etc/passwd", "/etc/passwd"),
        ("/tmp/<script>*x*", "script"),
    ],
)
def test_a_folder_that_cannot_work_is_refused_with_a_sentence(host: Host, folder: str, why: str) -> None:
    page = add(opened("models"), folder)
    assert len(page.error) == 1
    assert why in page.error[0].value
    assert launch.models_on(host) == []
    assert not calm(page.run()).error, "told once"


def test_a_broken_one_says_what_is_missing_and_cannot_be_launched(seeded: Host) -> None:
    page = opened("models")
    assert any("No weights are there" in one.value for one in page.error)
    assert not any("no-weights" in where for where in links(page).values())
    assert not any("no-weights" in key for key in keys(page)), "what lies below the work folder is not a list entry"
