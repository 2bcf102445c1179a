"""Launch: a model, the exact command, a start."""

import json
import shlex
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from console.hosts.inventory import Host
from console.jobs import history
from console.serving import instances
from tests.pages import seed
from tests.pages.page import calm, in_language, keys, links, opened, press, said


@pytest.fixture
def model(host: Host) -> Path:
    """One that a CPU could serve: heads of 64 numbers."""
    folder = seed.model(Path(host.work_folder) / "models" / "small")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"hidden_size": 256}))
    return folder


def test_it_opens(situation: str, lang: str) -> None:
    in_language(opened("launch", lang=lang), lang)


def test_without_a_model_it_says_what_to_do_first(host: Host) -> None:
    page = opened("launch")
    assert "No model can be served yet." in said(page)
    assert "Install" in links(page)


def test_what_is_shown_is_what_is_started(host: Host, model: Path) -> None:
    page = opened("launch")
    page.text_input(key="name-small").set_value("my-name")
    page.number_input(key="context-small").set_value(128).run()
    command = page.code[0].value
    assert "--served-model-name my-name" in command
    assert "--max-model-len 128" in command
    press(page, "launch-start")
    made = instances.instances()
    assert [(one.name, one.spec.context, one.state) for one in made] == [("my-name", 128, "stopped")]
    assert [(one.kind, one.subject) for one in history.jobs()] == [("start", made[0].subject)]
    assert page.title[0].value == "my-name", "it goes on to the page of the instance"


def test_what_cannot_work_is_refused_before_it_starts(host: Host, model: Path) -> None:
    page = opened("launch")
    page.number_input(key="tp-small").set_value(3)
    calm(page.text_input(key="name-small").set_value("not a name").run())
    told = page.error[0].value
    assert "cannot be divided by tensor parallel 3" in told
    assert "put the served name into requests" in told
    assert page.button(key="launch-start").disabled
    assert "each reason says what to change" in page.button(key="launch-start").help


def test_noise_is_called_noise(seeded: Host) -> None:
    folder = f"{seeded.work_folder}/models/tiny-noise"
    page = opened("launch", model=folder)
    assert page.selectbox(key="launch-model").value == folder
    assert any("random weights" in one.value for one in page.warning)


@pytest.mark.parametrize("folder", ["/etc/passwd", "", "../..", "<script>"])
def test_a_strange_model_in_the_address_is_none(seeded: Host, folder: str) -> None:
    page = opened("launch", model=folder)
    assert folder != page.selectbox(key="launch-model").value
    assert ("There is no model" in said(page)) == bool(folder)
    assert "Get a model onto this host" in links(page) or not folder


def test_a_paste_fills_the_form_of_a_cpu_and_says_what_it_cannot_have(host: Host, model: Path) -> None:
    page = opened("launch")
    text = f"vllm serve {shlex.quote(str(model))} --max-model-len 96 --max-num-seqs 3 --quantization ascend"
    page = press(calm(page.text_area(key="pasted").set_value(text).run()), "paste-take")
    shown = page.code[0].value
    assert "--max-model-len 96" in shown
    assert "--max-num-seqs 3" in shown
    assert "Left out" in page.warning[0].value
    assert "Quantization" in page.warning[0].value, "as the form calls it"


def test_what_a_paste_was_told_stays_after_the_form_is_filled(host: Host, model: Path) -> None:
    page = opened("launch")
    text = f"vllm serve {shlex.quote(str(model))} --max-model-len 99999 --async_engine"
    page = press(calm(page.text_area(key="pasted").set_value(text).run()), "paste-take")
    assert page.text_area(key="pasted").value == ""
    assert "--async_engine" in tables(page)
    assert "Context in tokens: 99999 was given" in page.warning[0].value
    page = press(page, "paste-undo")
    assert "--async_engine" not in tables(page)


def test_a_paste_of_a_model_that_is_not_here_leads_to_it(host: Host, model: Path) -> None:
    page = opened("launch")
    text = "vllm serve vllm-ascend/Qwen3-32B-W8A8 --quantization ascend"
    page = press(calm(page.text_area(key="pasted").set_value(text).run()), "paste-take")
    assert "There is no model" in page.warning[0].value
    assert "belongs to" in page.warning[1].value
    assert "model=vllm-ascend%2FQwen3-32B-W8A8" in links(page)["Get vllm-ascend/Qwen3-32B-W8A8 onto this host"]


def test_a_paste_is_explained_where_no_model_is(host: Host) -> None:
    page = opened("launch")
    page = calm(page.text_area(key="pasted").set_value("vllm serve Qwen/Qwen3-8B --async_engine").run())
    assert "--async_engine" in tables(page)
    assert "paste-take" not in keys(page)


def test_a_link_to_a_model_that_is_not_here_says_which_one_and_where_to_get_it(host: Host) -> None:
    page = opened("launch", model="vllm-ascend/Qwen3-32B-W8A8", users=4, context=8192)
    told = page.warning[0].value.replace("\\", "")
    assert "vllm-ascend/Qwen3-32B-W8A8" in told
    assert "8,192 tokens for each of 4 users" in told
    where = links(page)["Get vllm-ascend/Qwen3-32B-W8A8 onto this host"]
    assert where.startswith("models?")
    assert "model=vllm-ascend%2FQwen3-32B-W8A8" in where


def tables(page: AppTest) -> str:
    return "\n".join(one.proto.body for one in page.get("html"))


@pytest.mark.parametrize("address", [{"context": "5", "tensor_parallel": "2"}, {"kv_space_gib": "1", "dtype": "int3"}])
def test_a_link_fills_the_form_of_a_cpu(host: Host, model: Path, address: dict[str, str]) -> None:
    page = opened("launch", locale=None, **address)
    told = [one.value for one in page.error]
    assert page.button(key="launch-start").disabled == bool(told)
    if "dtype" in address:
        assert "int3" in told[0]
    else:
        assert "--max-model-len 5" in page.code[0].value


def test_a_link_beyond_the_limits_of_the_form_of_a_cpu_is_told(host: Host, model: Path) -> None:
    page = opened("launch", kv_space_gib="5000", tensor_parallel="0")
    told = "\n".join(one.value for one in page.warning).replace("\\", "")
    assert "5000 was given. The form takes 0.1 to 1024, so it begins with 1024." in told
    assert "Tensor parallel: 0 was given. The form takes 1 to 64, so it begins with 1." in told
