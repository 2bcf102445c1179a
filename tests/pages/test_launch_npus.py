"""Launch on a host with NPUs: cards, purpose, verdict, every option of the release, a paste, files, links."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from console.facts.probe import Raw
from console.hosts import inventory, kept
from console.hosts.inventory import Host
from console.jobs.logs import attempt_log
from console.records import writing
from console.serving import exports, instances, launch, place
from console.serving.backends.ascend_docker import image_of
from console.serving.exports import Form
from console.serving.state import State, Wish
from db import models
from tests.jobs.npus import Make, make, run
from tests.pages.page import calm, in_language, keys, links, opened, press, said
from tests.survival.npu_models import bring

__all__ = ["make"]
IMAGE = "quay.io/ascend/vllm-ascend:v0.23.0.post1"
SECRET = "sk-do-not-show-this-1234567890"


@pytest.fixture
def ready(make: Make, tmp_path: Path) -> Host:
    """A host with a small model, on which an image was found by the last look."""
    host = make("two-healthy-910b4")
    bring(host, tmp_path / "small")
    run(host, f"docker pull {IMAGE}")
    has(host, "ascend_docker", IMAGE)
    return host


def has(host: Host, backend: str, words: str) -> None:
    """What a look at the installed stack brings."""
    kept.keep(host.id, [Raw(f"{kept.RUNTIMES}{backend}", f"{words}\n", 0, 0.1)], 1.0, actor="ann")


def form(host: Host, **address: object) -> AppTest:
    return opened("launch", host=host.id, **address)


def widget(page: AppTest, kind: str, name: str) -> object:
    """The widget of a setting; its key ends in what the form begins with."""
    return next(one for one in page.get(kind) if (one.key or "").startswith(f"{name}-"))


def taken(one: instances.Instance) -> None:
    """As if its job had begun."""
    instances.begin_attempt(one.id, actor="ann")


def command(page: AppTest) -> str:
    return next(one.value for one in page.code if "vllm serve" in one.value)


def test_the_first_layer_is_short_and_what_is_shown_is_what_is_started(ready: Host) -> None:
    page = form(ready)
    assert [one.label for one in page.checkbox] == [one.label for one in page.checkbox if "NPU" in one.label]
    assert len(page.checkbox) == 2
    assert "It fits" in page.success[0].value
    assert "computed" in said(page)
    shown = command(page)
    assert shown.startswith("docker run")
    assert IMAGE in shown
    assert "--max-num-seqs 16" in shown
    page = press(page, "launch-start")
    (made,) = instances.instances()
    assert made.spec.device_ids == (0,), "the fewest cards on which it fits"
    spec = made.spec
    assert (spec.release, spec.chip, image_of(spec)) == ("0.23.0.post1", "910B4", IMAGE)
    assert page.title[0].value == "small"
    assert "Take it elsewhere" in said(page)


def test_what_is_not_installed_can_be_looked_at_and_not_started(make: Make, tmp_path: Path) -> None:
    host = make("two-healthy-910b4")
    bring(host, tmp_path / "small")
    page = form(host)
    button = page.button(key="launch-start")
    assert button.disabled
    assert "not installed" in button.help
    assert "vllm-ascend 0." in said(page)
    assert "install" in links(page)["Install"]
    in_language(form(host, lang="zh"), "zh")


def test_no_small_model_is_promised_for_a_host_with_npus(make: Make) -> None:
    host = make("two-healthy-910b4")
    page = form(host, model="vllm-ascend/Qwen3-32B-W8A8", quantization="ascend")
    assert "There is no model" in page.warning[0].value
    for words in (said(page), said(opened("models", host=host.id))):
        assert "from a hub" in words
        assert "two small" not in words
    assert links(page)["Models"].startswith("models?")
    assert page.text_area(key="pasted"), "a command can be explained before any model is there"


def test_a_held_card_cannot_be_chosen(make: Make, tmp_path: Path) -> None:
    host = make("held-by-container")
    bring(host, tmp_path / "small")
    has(host, "ascend_docker", IMAGE)
    page = form(host)
    held = [one for one in page.checkbox if one.disabled]
    assert held
    assert all("held by" in one.label and not one.value for one in held)
    with_all_held = form(host, lang="en")
    for one in [one for one in with_all_held.checkbox if one.value]:
        one.uncheck()
    page = calm(with_all_held.run())
    assert "Choose at least one card" in page.error[0].value
    assert page.button(key="launch-start").disabled


def test_only_what_the_release_knows_is_offered(ready: Host) -> None:
    page = form(ready)
    assert widget(page, "selectbox", "async_scheduling")
    has(ready, "ascend_docker", "quay.io/ascend/vllm-ascend:v0.9.1")
    page = form(ready)
    names = {(one.key or "").split("-")[0] for kind in ("selectbox", "number_input") for one in page.get(kind)}
    assert "async_scheduling" not in names
    assert "prefix_caching" in names
    assert "0.9.1" in said(page)


def test_refusals_are_all_in_sight_and_close_the_start(ready: Host) -> None:
    page = form(ready, tensor_parallel=3, context=10**9, quantization="awq", served_name="a.b")
    told = page.error[0].value
    for each in ("cannot be divided by tensor parallel 3", "at most 4096 tokens", "awq quantization"):
        assert each in told
    assert page.button(key="launch-start").disabled
    assert page.button(key="launch-start").help
    assert "export-script" not in keys(page)


EDITED: tuple[dict[str, str], ...] = (
    {"foo": "<script>alert(1)</script>"},
    {"context": "-5", "tensor_parallel": "x", "for": "<b>"},
    {"device_ids": "7,8,9", "users": "0", "port": "0"},
    {"utilization": "99", "max_num_seqs": "999999999999", "dtype": "int3", "reasoning_parser": "nobody"},
    {"backend": "cuda", "model": "/etc/passwd", "extra_env": "LD_PRELOAD=/x"},
    {"served_name": "x" * 90, "prefix_caching": "maybe", "tokenizer_mode": "$(x)"},
)


def test_an_edited_address_does_no_harm(ready: Host) -> None:
    for address in EDITED:
        page = form(ready, **address)
        assert "LD_PRELOAD" not in command(page), address
        assert page.warning or page.error, address


def test_a_link_fills_the_form_and_an_instance_leads_back_to_it(ready: Host) -> None:
    page = form(ready, model="small", context=2048, max_num_seqs=7, prefix_caching="false", served_name="chat")
    shown = command(page)
    for each in ("--max-model-len 2048", "--max-num-seqs 7", "--no-enable-prefix-caching", "--served-model-name chat"):
        assert each in shown
    page = press(page, "launch-start")
    address = links(page)["Start another one with these settings"]
    assert "context=2048" in address
    assert "prefix-caching=false" in address


def test_a_paste_is_explained_and_fills_the_form(ready: Host) -> None:
    page = form(ready)
    text = (
        f"vllm serve {ready.work_folder}/models/small --max-model-len 1024 --async_engine "
        f"--max-num-seqs 5 --api-key {SECRET}"
    )
    page = calm(page.text_area(key="pasted").set_value(text).run())
    assert "No release of vLLM has this option" in said(page)
    page = press(page, "paste-take")
    shown = command(page)
    assert "--max-model-len 1024" in shown
    assert "--max-num-seqs 5" in shown
    assert "async" not in shown
    assert "VLLM_API_KEY" in shown
    assert SECRET not in said(page)
    assert page.text_area(key="pasted").value == ""
    page = press(page, "paste-undo")
    assert "--max-num-seqs 16" in command(page)


def test_a_docker_line_and_a_program_fill_the_form_too(ready: Host) -> None:
    page = form(ready)
    text = (
        f"docker run --rm --network host --shm-size 4g --device /dev/davinci1 -v /data:/data {IMAGE} "
        f"vllm serve {ready.work_folder}/models/small --max-model-len 512"
    )
    page = press(calm(page.text_area(key="pasted").set_value(text).run()), "paste-take")
    shown = command(page)
    for each in ("--network host", "--shm-size 4g", "/dev/davinci1", "/data:/data", "--max-model-len 512"):
        assert each in shown
    assert "/dev/davinci0" not in shown
    assert "without a key" in page.error[0].value, "such a server would be open to the network"
    program = f"from vllm import LLM\nllm = LLM(model='{ready.work_folder}/models/small', max_model_len=256)\n"
    page = press(calm(page.text_area(key="pasted").set_value(program).run()), "paste-take")
    assert "--max-model-len 256" in command(page)
    page = calm(page.text_area(key="pasted").set_value("ls -la").run())
    assert "Nothing in it starts a server" in said(page)


def test_an_image_of_another_release_is_refused(ready: Host) -> None:
    page = form(ready)
    image = widget(page, "text_input", "image")
    page = calm(image.set_value("quay.io/ascend/vllm-ascend:v0.18.0").run())  # type: ignore[attr-defined]
    assert "of vllm-ascend 0" in page.error[0].value
    assert page.button(key="launch-start").disabled
    image = widget(page, "text_input", "image")
    page = calm(image.set_value("quay.io/ascend/vllm-ascend:v0.23.0.post1-openeuler").run())  # type: ignore[attr-defined]
    assert "is not on two" in page.error[0].value.replace("\\", ""), "the host was asked whether it has it"


def test_what_the_way_does_not_have_is_left_out_with_a_sentence(ready: Host) -> None:
    page = form(ready)
    text = f"VLLM_CPU_KVCACHE_SPACE=4 vllm serve {ready.work_folder}/models/small --max-model-len 512"
    page = press(calm(page.text_area(key="pasted").set_value(text).run()), "paste-take")
    assert "--max-model-len 512" in command(page)
    page = form(ready, kv_space_gib="2.5")
    assert "Left out" in page.warning[0].value
    assert "KV cache" in page.warning[0].value


def test_what_is_typed_and_cannot_be_read_is_refused(ready: Host) -> None:
    page = form(ready)
    widget(page, "text_area", "env").set_value("NOT A PAIR\nHF_TOKEN=" + SECRET)  # type: ignore[attr-defined]
    page = calm(widget(page, "text_input", "others").set_value("--seed 'x").run())  # type: ignore[attr-defined]
    assert "is not NAME=value" in page.error[0].value
    assert "not closed" in page.error[0].value
    page = calm(widget(page, "text_area", "env").set_value("HF_TOKEN=" + SECRET).run())  # type: ignore[attr-defined]
    page = calm(widget(page, "text_input", "others").set_value("").run())  # type: ignore[attr-defined]
    assert "looks like a secret" in page.error[0].value
    assert SECRET not in command(page)
    widget(page, "text_area", "env").set_value("")  # type: ignore[attr-defined]
    page = calm(widget(page, "text_input", "others").set_value(f"--api_key {SECRET}").run())  # type: ignore[attr-defined]
    assert "would show a secret" in page.error[0].value
    assert SECRET not in command(page)
    assert SECRET not in page.error[0].value


def test_files_hold_the_key_only_where_it_is_asked_for(ready: Host) -> None:
    page = press(form(ready, api_key="true"), "launch-start")
    (one,) = instances.instances()
    key = launch.api_key(one)
    assert key
    assert key not in said(page)
    assert "a placeholder stands" in said(page)
    page = calm(page.toggle(key=f"export-key-{one.id}").set_value(True).run())
    assert key not in said(page)
    assert "a placeholder stands" not in said(page)
    folder = place.runtime_folder(inventory.host(one.host_id), one.backend)
    for each in Form:
        assert key not in exports.export(one.spec, each, folder)
        assert key in exports.export(one.spec, each, folder, key)


def test_what_a_server_of_this_model_measured_stands_beside_the_sum(ready: Host) -> None:
    page = press(form(ready, served_name="first"), "launch-start")
    (one,) = instances.instances()
    number = instances.begin_attempt(one.id, actor="ann").number
    attempt_log(one.id, number).take(b"INFO NPU KV cache size: 4,321 tokens\n", ended=True)
    ended(one.id)
    assert "4,321" not in said(form(ready)), "a rehearsal host teaches nothing about cards"
    with as_if_real(ready):
        page = form(ready)
        assert "4,321" in said(page)
        assert "measured on this host" in said(page)


def ended(instance_id: int) -> None:
    with writing() as session:
        row = session.get_one(models.Instance, instance_id)
        row.wish, row.state = Wish.down, State.stopped


@contextmanager
def as_if_real(host: Host) -> Iterator[None]:
    """For a while nothing says that the cards of this host are simulated."""
    try:
        _plays(host, None)
        yield
    finally:
        _plays(host, host.scenario)


def _plays(host: Host, scenario: str | None) -> None:
    with writing() as session:
        session.get_one(models.Host, host.id).scenario = scenario
