"""Nothing that a link or a paste says is changed in silence: what was given, what a form takes, what it begins with."""

from pathlib import Path

import pytest

from console.hosts.inventory import Host
from tests.jobs.npus import Make, make
from tests.pages.page import calm, opened, press
from tests.pages.test_launch_npus import command, form, has
from tests.survival.npu_models import bring

__all__ = ["make"]
IMAGE = "quay.io/ascend/vllm-ascend:v0.23.0.post1"


@pytest.fixture
def ready(make: Make, tmp_path: Path) -> Host:
    """A host with a small model, on which an image was found by the last look."""
    host = make("two-healthy-910b4")
    bring(host, tmp_path / "small")
    has(host, "ascend_docker", IMAGE)
    return host


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ({"utilization": "99"}, "Share of the memory: 99 was given. The form takes 0.01 to 1, so it begins with 1"),
        ({"tensor_parallel": "128"}, "Tensor parallel: 128 was given. The form takes 1 to 64, so it begins with 64"),
        ({"data_parallel": "0"}, "Data parallel: 0 was given. The form takes 1 to 64, so it begins with 1"),
        ({"max_num_seqs": "70000"}, "70000 was given. The form takes 1 to 65536"),
        ({"port": "99999"}, "Port: 99999 was given. The form takes 1 to 65535"),
        ({"users": "0"}, "Users at a time: 0 was given. The form takes 1 to 4096"),
        ({"users": "9999"}, "Users at a time: 9999 was given. The form takes 1 to 4096"),
        ({"users": "many"}, "users is “many”, which cannot be"),
        ({"backend": "cuda"}, "a way to run vLLM “cuda”"),
        ({"device_ids": ",".join(["1"] * 65)}, "which cannot be"),
    ],
)
def test_a_link_beyond_the_limits_of_the_form_is_told(ready: Host, address: dict[str, str], told: str) -> None:
    page = form(ready, **address)
    assert told in "\n".join(one.value for one in page.warning).replace("\\", "")


def test_a_link_within_the_limits_is_taken_to_the_letter(ready: Host) -> None:
    page = form(ready, utilization="0.912345", tensor_parallel=2, users=4096, port=9000)
    assert "--gpu-memory-utilization 0.912345" in command(page)
    assert not [one.value for one in page.warning if "was given" in one.value]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("--speculative-config '{\"num_speculative_tokens\": 2}'", "without a method"),
        ('--speculative-config \'{"method": "mtp", "num_speculative_tokens": 99}\'', "99 was given. The form takes 1"),
        ('--enforce-eager --compilation-config \'{"cudagraph_mode": "FULL"}\'', "graph mode FULL were both given"),
        ("--max-model-len 99999999999999999", "Context in tokens: 99999999999999999 was given"),
    ],
)
def test_a_paste_beyond_the_limits_of_the_form_is_told(ready: Host, words: str, told: str) -> None:
    page = form(ready)
    text = f"vllm serve {ready.work_folder}/models/small {words}"
    page = press(calm(page.text_area(key="pasted").set_value(text).run()), "paste-take")
    assert told in "\n".join(one.value for one in page.warning).replace("\\", "")


def test_the_address_of_a_paste_is_kept(ready: Host) -> None:
    page = form(ready)
    text = f"docker run -p 10.0.0.7:8006:8000 {IMAGE} vllm serve {ready.work_folder}/models/small --api-key x"
    page = press(calm(page.text_area(key="pasted").set_value(text).run()), "paste-take")
    assert "10.0.0.7:8006" in command(page)
    assert "at the address 10.0.0.7, with an API key" in page.radio[0].options


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ({"chip": "H100"}, "a chip “H100”"),
        ({"chip": "910B4", "cards": "-1"}, "Cards: -1 was given. The form takes 1 to 64"),
        ({"chip": "910B4", "cards": "65"}, "Cards: 65 was given. The form takes 1 to 64"),
        ({"context": "999999999"}, "Context in tokens: 999999999 was given"),
        ({"context": "1e9"}, "which cannot be"),
        ({"users": "0"}, "Users at the same time: 0 was given. The form takes 1 to 4096"),
        ({"quantization": "int3"}, "There is no quantization 'int3'"),
        ({"host": "77"}, "a host “77”"),
    ],
)
def test_a_question_beyond_the_limits_of_the_fit_page_is_told(host: Host, address: dict[str, str], told: str) -> None:
    page = opened("fit", **address)
    assert told in "\n".join(one.value for one in page.warning).replace("\\", "")


def test_a_chip_by_another_name_or_without_support_is_taken(host: Host) -> None:
    page = opened("fit", chip="910b4")
    assert page.selectbox[-1] is not None
    assert not [one.value for one in page.warning if "chip" in one.value]
    assert "first generation" in opened("fit", chip="910B").error[0].value
