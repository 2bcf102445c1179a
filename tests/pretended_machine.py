"""A data folder in which vLLM seems to be installed: every package as pinned, both models, and the pretended engine.

Each step of the installation finds its work done, so the whole pilot path runs in seconds, with real processes.
"""

import json
import re
import shlex
import struct
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path

import pip
import pytest

from console.hosts import inventory
from console.hosts.inventory import Host
from console.plans.local_cpu import SCRIPTS, LocalCpuTarget, catalog, model_folder, pins, plan, runtime_folder
from tests.jobs.conftest import WorkerProcess
from tests.running import ROOT, RunningConsole

sys.path.insert(0, str(ROOT / "scripts" / "fake"))
import runtime  # type: ignore[import-not-found]

SMALL = {
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 256,
    "vocab_size": 100,
    "max_position_embeddings": 8192,
    "torch_dtype": "bfloat16",
}


def pretend(folder: Path, misfortunes: str = "") -> None:
    """Fill the data folder; `misfort` rewrites what its engine suffers from."""
    import platform

    target = LocalCpuTarget(str(folder), machine=platform.machine())
    place = Path(runtime_folder(target))
    venv.create(place, with_pip=False, symlinks=True)
    site = next(place.glob("lib/python3.*/site-packages"))
    (site / "pip").symlink_to(Path(pip.__file__).parent)
    wished = re.sub(r"^torch==(\S+)$", r"torch==\1+cpu", pins(target.machine), flags=re.MULTILINE)
    known = catalog()
    more = [f"vllm=={known['engine']['alias_version']}", f"pip=={known['installer']['pip']}"]
    for line in [*wished.splitlines(), *more]:
        _installed(site, line)
    (place / "complete.json").touch()
    engine = runtime.make(folder / "pretended", misfortunes)
    vllm = place / "bin" / "vllm"
    vllm.write_text(f'#!/bin/sh\nexec {shlex.quote(str(engine / "bin" / "vllm"))} "$@"\n')
    vllm.chmod(0o755)
    _model(target, "smollm2", SMALL)
    deepseek = {"architectures": ["DeepseekV2ForCausalLM"], "torch_dtype": "bfloat16"}
    _model(target, "tiny_deepseek", {**known["models"]["tiny_deepseek"]["settings"], **deepseek})


def misfort(folder: Path, misfortunes: str) -> None:
    """What the engine suffers from at its next start; see scripts/fake/vllm_words.py."""
    (folder / "pretended" / "misfortunes").write_text(misfortunes + "\n")


def _installed(site: Path, line: str) -> None:
    matched = re.match(r'([^=]+)==(\S+)(?: ; python_version (<|>=) "3\.(\d+)")?$', line)
    assert matched
    if matched[3] and (sys.version_info[1] >= int(matched[4])) != (matched[3] == ">="):
        return  # meant for another Python
    info = site / f"{matched[1].replace('-', '_')}-{matched[2]}.dist-info"
    info.mkdir(exist_ok=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {matched[1]}\nVersion: {matched[2]}\n")
    (info / "RECORD").write_text(f"{info.name}/INSTALLER,,\n")


def _model(target: LocalCpuTarget, name: str, config: dict[str, object]) -> None:
    """Made and named as the installation does it."""
    final = Path(model_folder(target, name))
    part = final.with_name(f"{final.name}.part")
    write_model(part, config)
    step = next(
        each for each in plan(target) if each.name == f"model-{final.name}" or name.replace("_", "-") in each.name
    )
    recipe = re.search(r"^recipe=(.*)$", step.verify, re.MULTILINE)
    assert recipe
    command = [sys.executable, str(SCRIPTS / "publish.py"), str(part), str(final), shlex.split(recipe[1])[0]]
    subprocess.run(command, check=True, capture_output=True)


def write_model(folder: Path, config: dict[str, object]) -> Path:
    """A folder that looks like a whole small model; nothing computes with it."""
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "tokenizer.json").write_text("{}")
    (folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": "{{ messages }}"}))
    header = json.dumps({"a": {"dtype": "BF16", "shape": [2, 3], "data_offsets": [0, 12]}}).encode()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + bytes(12))
    return folder


@pytest.fixture
def machine(data: Path, worker: WorkerProcess) -> Iterator[Host]:
    """This machine with the pretended engine and a worker; whatever is left of it ends with the test."""
    pretend(data)
    here = inventory.this_machine()
    worker.start()
    yield here
    worker.kill()
    RunningConsole(data).close()
