"""Models: folders of weights, added and taken off the list."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from console.catalog.models import models
from console.hosts.inventory import Host
from console.jobs import history
from console.serving import launch, survey
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


def test_what_a_search_found_is_shown_with_its_age_and_can_be_added(host: Host, tmp_path: Path) -> None:
    folder = seed.model(tmp_path / "disk" / "found")
    broken = seed.model(tmp_path / "disk" / "broken", broken=True)
    page = opened("models")
    assert "It was not searched yet." in said(page)
    survey.survey(host, (str(tmp_path / "disk"),))
    page = opened("models")
    assert "2 model folders, seen " in said(page)
    table = next(one.value for one in page.get("html") if "<table" in one.value) if page.get("html") else said(page)
    for words in ("found", "broken", "cannot be served", "No weights are there"):
        assert words in table or words in said(page)
    assert page.button(key=f"add-{broken}").disabled
    press(page, f"add-{folder}")
    assert [one.folder for one in launch.models_on(host)] == [str(folder)]
    addresses = links(opened("models"))
    assert "model=" in addresses["Fit"]


def test_a_model_is_asked_for_at_a_hub(host: Host) -> None:
    page = opened("models")
    page.selectbox(key="get-name").set_value(models()[0].id)
    calm(page.run())
    page.toggle(key="get-steps").set_value(True)
    page.text_input(key="get-endpoint-modelscope").set_value("https://hub.example/mirror")
    calm(page.run())
    assert any("hub\\.example" in one.value for one in page.markdown)
    press(page, "get-fetch")
    (job,) = history.jobs()
    assert (job.kind, [step.step.name for step in job.steps]) == ("fetch-model", ["list", "fetch", "look"])
    page = opened("models")
    page.selectbox(key="get-name").set_value(models()[0].id)
    page.text_input(key="get-endpoint-modelscope").set_value("https://me:word@hub.example")
    assert "without a user or password" in calm(page.run()).error[0].value


def test_an_address_names_the_model_to_get(host: Host) -> None:
    page = opened("models", model="vllm-ascend/Qwen3-32B-W8A8")
    (name,) = (one for one in page.selectbox if (one.key or "").startswith("get-name"))
    assert name.value == "vllm-ascend/Qwen3-32B-W8A8"
    assert "Qwen/Qwen3-32B" in name.options
    assert not opened("models", model="<script>").error
    (name,) = (one for one in opened("models").selectbox if one.key == "get-name")
    assert name.value is None
    named = {one.repo for each in models() for one in each.quantized}
    assert named <= set(name.options), "what a recipe tells to fetch can be chosen"


def test_nothing_is_sent_without_a_host_and_a_folder(host: Host, tmp_path: Path) -> None:
    folder = seed.model(Path(host.work_folder) / "models" / "own")
    page = opened("models")
    page.segmented_control(key="get-way").set_value("here")
    calm(page.run())
    assert page.button(key="push-model").disabled
    page.selectbox(key="push-folder").set_value(str(folder))
    page.multiselect(key=f"push-hosts-{host.id}").set_value([host.id])
    calm(page.run())
    (folder / "model.safetensors").unlink()
    press(page, "push-model")
    assert any("No weights are there" in one.value for one in page.error)
    assert history.jobs() == []
