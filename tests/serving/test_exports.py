"""Exports are read back by the rules of whoever will read them, and hold the very words of the command."""

import os
import re
import shlex
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from console.errors import InvalidInput
from console.serving.asked import ServeSpec
from console.serving.command import command
from console.serving.exports import KEY, Form, export, file_name, forms
from tests.serving.subjects import spec
from tests.serving.test_ascend_backends import npus

NASTY = '/模型/it\'s a $(folder) "x" %h $HOME \\ `id`;&'
CONTAINER = npus(backend="ascend_docker", tensor_parallel=2, api_key=True, served_name="DeepSeek/R1.x")


def unit_words(text: str) -> list[str]:
    """The words of one line as systemd reads them: quotes, C escapes, %% and $$ (systemd.syntax, systemd.service)."""
    words: list[str] = []
    for found in re.finditer(r'"((?:[^"\\]|\\.)*)"|(\S+)', text):
        word = found[2] if found[1] is None else found[1]
        assert found[2] is None or '"' not in found[2]
        if found[1] is not None:
            word = re.sub(r"\\(.)", lambda one: {"n": "\n", "t": "\t", "r": "\r"}.get(one[1], one[1]), word)
        assert not re.search(r"(?<!%)%(?!%)", word.replace("%%", ""))
        words.append(word.replace("%%", "%"))
    return words


def of_unit(text: str, key: str) -> list[str]:
    return [line.split("=", 1)[1] for line in text.splitlines() if line.startswith(f"{key}=")]


def inside(asked: ServeSpec) -> list[str]:
    argv = list(command(asked, "/r").argv)
    return argv[argv.index("bash") :]


@pytest.mark.parametrize("asked", [spec(), npus(), CONTAINER, npus(model_folder=NASTY), spec(api_key=True)])
def test_a_script_is_valid_and_runs_the_very_words(asked: ServeSpec, tmp_path: Path) -> None:
    text = export(asked, Form.SCRIPT, "/r")
    path = tmp_path / file_name(asked, Form.SCRIPT)
    path.write_text(text)
    for shell in ("bash", "sh"):
        program = shutil.which(shell)
        assert program
        subprocess.run([program, "-n", path], check=True, capture_output=True)
    made = command(asked, "/r")
    body = text.split("exec ", 1)[1]
    words = shlex.split(body.removeprefix("env").replace(" \\\n  ", " "))
    assert words[len(made.env) :] == list(made.argv)
    assert KEY in text if asked.api_key else "KEY" not in text


def test_a_script_stops_without_the_key_and_hands_it_on(tmp_path: Path) -> None:
    said = tmp_path / "said"
    fake = tmp_path / "bash"
    fake.write_text(f'#!/bin/sh\nprintf %s "$VLLM_API_KEY" > {said}\n')
    fake.chmod(0o755)
    path = tmp_path / "serve.sh"
    path.write_text(export(npus(api_key=True), Form.SCRIPT, "/r"))
    env = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    assert subprocess.run(["sh", path], env=env, capture_output=True, check=False).returncode != 0
    assert not said.exists()
    subprocess.run(["sh", path], env={**env, "VLLM_API_KEY": "k y"}, check=True, capture_output=True)
    assert said.read_text() == "k y"


@pytest.mark.parametrize(
    "asked", [spec(), npus(api_key=True), CONTAINER, npus(model_folder=NASTY, extra_env={"A": NASTY})]
)
def test_a_unit_is_read_back_as_the_very_words(asked: ServeSpec) -> None:
    text = export(asked, Form.SYSTEMD, "/r")
    made = command(asked, "/r")
    (start,) = of_unit(text, "ExecStart")
    words = [word.replace("$$", "$") for word in unit_words(start)]
    assert (words if words[0] == made.argv[0] else words[1:]) == list(made.argv)
    assert words[0].startswith("/")
    environment = dict(unit_words(line)[0].split("=", 1) for line in of_unit(text, "Environment"))
    assert environment == dict(made.env)
    assert bool(of_unit(text, "EnvironmentFile")) == asked.api_key
    assert not any("VLLM_API_KEY" in line for line in of_unit(text, "Environment"))


@pytest.mark.needs("systemd-analyze")
def test_systemd_itself_accepts_the_unit(tmp_path: Path) -> None:
    path = tmp_path / "vllm.service"
    path.write_text(export(npus(model_folder=NASTY), Form.SYSTEMD, "/r"))
    program = shutil.which("systemd-analyze")
    assert program
    ran = subprocess.run([program, "verify", "--man=no", path], capture_output=True, text=True, check=False)
    ours = [line for line in ran.stderr.splitlines() if "vllm.service" in line]
    assert ours == []


@pytest.mark.parametrize("network", ["", "host"])
def test_a_compose_file_holds_the_container(network: str) -> None:
    asked = npus(
        backend="ascend_docker", model_folder=NASTY.replace(":", ""), api_key=True, network=network, shm_gib=16,
        extra_env={"A": "$B"}, mounts=("/a:/b:ro",),
    )  # fmt: skip
    service = yaml.safe_load(export(asked, Form.COMPOSE, "/r"))["services"]["vllm"]
    assert [word.replace("$$", "$") for word in service["command"]] == inside(asked)
    assert service["environment"]["A"] == "$$B"
    assert service["environment"]["DO_NOT_TRACK"] == "1"
    assert KEY in service["environment"]["VLLM_API_KEY"]
    argv = command(asked, "/r").argv
    given = [value for word, value in pairwise(argv) if word == "--device"]
    assert service["devices"] == given
    assert [one.replace("$$", "$") for one in service["volumes"]] == [v for w, v in pairwise(argv) if w == "--volume"]
    assert service["shm_size"] == "16g"
    assert service.get("network_mode") == (network or None)
    assert service.get("ports") == (None if network else ["127.0.0.1:8001:8001"])


def test_a_manifest_holds_the_container_and_a_secret_to_fill_in() -> None:
    text = export(CONTAINER, Form.KUBERNETES, "/r")
    secret, deployment, service = list(yaml.safe_load_all(text))
    assert secret["stringData"] == {"VLLM_API_KEY": KEY}
    pod: dict[str, Any] = deployment["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert container["command"] == inside(CONTAINER)
    assert container["resources"]["limits"] == {"huawei.com/Ascend910": 2}
    names = {volume["name"] for volume in pod["volumes"]}
    assert {mount["name"] for mount in container["volumeMounts"]} == names
    paths = {mount["mountPath"]: mount.get("readOnly", False) for mount in container["volumeMounts"]}
    assert paths["/data/models/smol"] is True
    assert paths["/dev/shm"] is False
    key = next(one for one in container["env"] if one["name"] == "VLLM_API_KEY")
    assert key["valueFrom"]["secretKeyRef"]["name"] == secret["metadata"]["name"]
    assert service["spec"]["selector"] == deployment["spec"]["template"]["metadata"]["labels"]
    for one in (secret, deployment, service):
        assert re.fullmatch(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", one["metadata"]["name"])


def test_a_server_without_a_container_has_no_compose_file() -> None:
    assert forms(npus()) == (Form.SCRIPT, Form.SYSTEMD)
    assert Form.KUBERNETES not in forms(npus(backend="ascend_docker", chip="950"))
    with pytest.raises(InvalidInput):
        export(npus(), Form.COMPOSE, "/r")


@given(st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=20))
@settings(max_examples=50, deadline=None)
def test_any_folder_survives_every_export(name: str) -> None:
    folder = f"/m/{name}".replace(":", "")
    bare, boxed = npus(model_folder=folder), npus(backend="ascend_docker", model_folder=folder)
    assert folder in shlex.split(export(bare, Form.SCRIPT, "/r").split("exec env", 1)[1].replace(" \\\n  ", " "))
    (start,) = of_unit(export(bare, Form.SYSTEMD, "/r"), "ExecStart")
    assert folder in [word.replace("$$", "$") for word in unit_words(start)]
    service = yaml.safe_load(export(boxed, Form.COMPOSE, "/r"))["services"]["vllm"]
    assert folder in [word.replace("$$", "$") for word in service["command"]]
    deployment = next(iter(yaml.safe_load_all(export(boxed, Form.KUBERNETES, "/r"))))
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    assert folder in [word.replace("$$(", "$(") for word in container["command"]]
