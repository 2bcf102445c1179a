"""Whatever the console says to a person, it says in both languages."""

from collections.abc import Callable
from pathlib import Path

import pytest

from scripts.translations import CATALOG, merge, read, troubles
from tests.house.tree import ROOT

Write = Callable[[str, str], None]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def one(name: str, text: str) -> None:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    return one


def translate(root: Path, english: str, chinese: str) -> None:
    path = root / CATALOG
    path.write_text(path.read_text().replace(f'msgid "{english}"\nmsgstr ""', f'msgid "{english}"\nmsgstr "{chinese}"'))


def test_the_project_is_complete_in_both_languages() -> None:
    assert "\n".join(troubles(ROOT)) == ""


def test_a_sentence_is_missing_until_it_is_translated(tmp_path: Path, write: Write) -> None:
    write("console/one.py", 'say("Host {name} is up.", name=1)\n')
    write("pages/two.py", 't("Hosts")\nText("Cards")\nText("{words}")\n')
    merge(tmp_path)
    assert [trouble.partition(": ")[0] for trouble in troubles(tmp_path)] == [
        "pages/two.py:2",
        "console/one.py:1",
        "pages/two.py:1",
    ]
    for english, chinese in (("Host {name} is up.", "主机 {name} 已就绪。"), ("Hosts", "主机"), ("Cards", "卡")):
        translate(tmp_path, english, chinese)
    assert troubles(tmp_path) == []


def test_merging_keeps_translations_and_drops_what_nobody_says(tmp_path: Path, write: Write) -> None:
    write("console/one.py", 'say("Hosts")\nsay("Cards")\n')
    merge(tmp_path)
    translate(tmp_path, "Hosts", "主机")
    write("console/one.py", 'say("Hosts")\nsay("Models")\n')
    assert len(troubles(tmp_path)) == 2
    merge(tmp_path)
    assert {str(entry.id): str(entry.string) for entry in read(tmp_path) if entry.id} == {"Hosts": "主机", "Models": ""}


def test_places_must_be_the_same_in_both_languages(tmp_path: Path, write: Write) -> None:
    write("console/one.py", 'say("{used} of {total} used", used=1, total=2)\n')
    merge(tmp_path)
    translate(tmp_path, "{used} of {total} used", "已用 {used}，共 {totl}")
    assert ["other {values}" in trouble for trouble in troubles(tmp_path)] == [True]


@pytest.mark.parametrize(
    ("code", "complaint"),
    [
        ('say(f"Host {name}")', "literal"),
        ("say(sentence)", "literal"),
        ('ui.t("a" + b)', "literal"),
        ('say("{a} and {b}", a=1)', "not given"),
        ('t("{a}")', "not given"),
    ],
)
def test_calls_that_cannot_be_translated(tmp_path: Path, write: Write, code: str, complaint: str) -> None:
    write("console/one.py", code + "\n")
    assert any(complaint in trouble for trouble in troubles(tmp_path))


@pytest.mark.parametrize("pair", ["{en: Driver}", "{zh: 驱动}", '{en: Driver, zh: ""}', '{en: "Driver {v}", zh: 驱动}'])
def test_catalog_texts_stand_in_both_languages(tmp_path: Path, write: Write, pair: str) -> None:
    write("console/catalog/releases.yaml", f"releases:\n  - note: {pair}\n")
    assert [trouble.partition(": ")[0] for trouble in troubles(tmp_path)] == [
        "console/catalog/releases.yaml:releases:0:note"
    ]
