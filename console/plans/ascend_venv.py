"""How a host with NPUs gets vLLM in a Python environment of its own, with driver, firmware and CANN below it."""

import json
from collections.abc import Iterator

from console.catalog.knowledge import Knowledge
from console.errors import InvalidInput
from console.plans import ascend_pins
from console.plans.ascend import (
    Case,
    Options,
    Source,
    changes_driver,
    driver_steps,
    file_of,
    packages_step,
    system_step,
)
from console.plans.ascend_pins import PLUGIN, TORCH, TRITON, VLLM
from console.plans.needs import cann_files
from console.plans.resolve import Stack
from console.plans.step import Step
from console.plans.target import Target
from console.text import Text, say

LOOK_TORCH = (
    "import torch, torch_npu; n = torch.npu.device_count(); print('torch', torch.__version__, 'sees', n, 'NPUs'); "
    "raise SystemExit(0 if torch.npu.is_available() and n else 1)"
)
LOOK_PLUGIN = (
    "import torch, vllm, vllm_ascend; print('vllm', vllm.__version__); "
    "raise SystemExit(0 if torch.npu.is_available() else 1)"
)
TINY = {
    "architectures": ["Qwen2ForCausalLM"], "model_type": "qwen2", "hidden_size": 256, "intermediate_size": 512,
    "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 2, "vocab_size": 1024,
    "max_position_embeddings": 256, "rms_norm_eps": 1e-6, "rope_theta": 10000.0, "hidden_act": "silu",
    "torch_dtype": "bfloat16", "tie_word_embeddings": True, "bos_token_id": 1, "eos_token_id": 2,
}  # fmt: skip
"""A model without weights: the server makes them up, which proves everything but the answer."""
SERVER_WAIT_S = 900
BUILD_TOOLS = (
    "setuptools>=77.0.3,<81",
    "setuptools-scm>=8",
    "setuptools-rust>=1.9",
    "wheel",
    "packaging>=24.2",
    "jinja2",
)
"""What the build of vLLM asks for beside PyTorch (pyproject.toml of vLLM 0.23.0)."""


def plan(target: Target, stack: Stack, options: Options, known: Knowledge) -> list[Step]:
    """From the host as it is to a server that has answered. InvalidInput when there is no full list of packages."""
    case = Case(target, stack, options, known)
    if options.source is Source.INDEX and not ascend_pins.lock(stack, target.arch):
        raise InvalidInput(
            say(
                "There is no complete list of packages for vllm-ascend {release} with Python {python} on {arch}, and "
                "nothing is installed that is not pinned. Build a bundle for this host and install from its folder.",
                release=stack.release.vllm_ascend,
                python=stack.python,
                arch=target.arch,
            )
        )
    files = [one for one in (file_of(stack, "driver"), file_of(stack, "firmware"), *_cann(case)) if one]
    return [
        packages_step(case, files, python=stack.python),
        system_step(case, driver=changes_driver(stack), plugin=True, python=stack.python),
        *driver_steps(case),
        *cann_steps(case),
        *python_steps(case),
        *levels(case),
    ]


def _cann(case: Case) -> list[str]:
    """Files of CANN that are not installed yet, as far as the host has told."""
    return [one.name for one in case.stack.packages if one.kind == "cann"]


def cann_steps(case: Case) -> Iterator[Step]:
    """Toolkit, operators, NNAL, each on top of the one before."""
    cann = case.stack.variant.cann
    files = cann_files(case.known, case.family, case.target.arch, cann)
    titles: dict[str, tuple[Text, float]] = {
        "toolkit": (say("Install the toolkit of CANN {version}", version=cann), 300),
        "ops": (say("Install the operators of CANN {version} for this chip", version=cann), 240),
        "nnal": (say("Install NNAL of CANN {version}", version=cann), 60),
    }
    for name, package in zip(titles, files, strict=True):
        title, expected_s = titles[name]
        yield case.step(
            name,
            title,
            expected_s,
            7200,
            rollback=say("Run the same package with --uninstall."),
            file=package.name,
            version=cann,
            package=package.name.split("_")[0],
        )


def python_steps(case: Case) -> Iterator[Step]:
    """The environment, the list of what goes into it, and each part of the list."""
    stack, arch = case.stack, case.target.arch
    lock = ascend_pins.lock(stack, arch) if case.options.source is Source.INDEX else ""
    lock = lock.replace("+empty", "")  # built on the host it has the plain version
    listed = {"lock": lock, "pins": ascend_pins.pins(stack, arch)}
    remove = say("Delete the folder {folder}.", folder=case.options.venv)
    yield case.step("venv", say("Make a Python environment for the engine"), 15, 900, rollback=remove,
                    python=stack.python, stack=_name(stack))  # fmt: skip
    yield case.step("list", say("Write down the full list of packages, each with its version"), 1, 120, values=listed)
    rest = "-" + " ".join((*TORCH, *TRITON, *VLLM, *PLUGIN))
    groups = [
        ("torch", say("Install PyTorch and torch-npu"), 90, " ".join(TORCH)),
        ("triton", say("Install triton-ascend"), 30, " ".join(TRITON)),
        ("dependencies", say("Install what vLLM, CANN and its benchmark need"), 180, rest),
        ("vllm", say("Install vLLM without code for a device"), 60, " ".join(VLLM)),
        ("plugin", say("Install vllm-ascend"), 60, " ".join(PLUGIN)),
    ]
    for name, title, expected_s, group in groups:
        yield _group(case, name, title, expected_s, group)
    no_triton = "yes" if stack.variant.triton_ascend and not ascend_pins.takes_triton(stack) else ""
    yield case.step("level-packages", say("Prove the packages: compare every one with its pinned version"), 10, 600,
                    no_triton=no_triton)  # fmt: skip


def _group(case: Case, name: str, title: Text, expected_s: float, group: str) -> Step:
    places = [case.known.places[one].address for one in ("torch_cpu", "vendor_index")]
    return case.step(
        name,
        title,
        expected_s,
        4 * 3600,
        script="group",
        group=group,
        python=case.stack.python,
        indexes=" ".join(one for one in places if one),
        tools=" ".join(BUILD_TOOLS),
        from_source="yes" if name == "vllm" and case.options.source is Source.INDEX else "",
    )


def _name(stack: Stack) -> str:
    return f"vllm-ascend {stack.release.vllm_ascend}, CANN {stack.variant.cann}, Python {stack.python}"


def levels(case: Case) -> Iterator[Step]:
    """Proof from below: torch sees the NPUs, the plugin loads, a server answers. The driver was proved before CANN."""
    title = say("Prove PyTorch: it sees the NPUs")
    yield case.step("level-torch", title, 20, 600, look_torch=LOOK_TORCH)
    title = say("Prove the plugin: it loads with vLLM")
    yield case.step("level-plugin", title, 40, 600, look_plugin=LOOK_PLUGIN)
    title = say("Prove the server: it starts on the NPU and answers")
    yield case.step("level-server", title, 120, 1800, tiny=json.dumps(TINY), server_wait=str(SERVER_WAIT_S))
