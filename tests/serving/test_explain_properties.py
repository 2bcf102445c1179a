"""Pasted texts drawn at random: none breaks the reading, no word is lost, and our own commands come back whole."""

import json
import re
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from console.catalog import parsers
from console.catalog.flags import told
from console.serving.asked import ServeSpec
from console.serving.backends import backend
from console.serving.command import command, shell
from console.serving.explain import report, understand
from console.serving.explain_words import apart
from tests.serving.subjects import MACHINE, TINY_MLA, spec
from tests.serving.test_ascend_backends import SPECS
from tests.serving.test_explain import findings, read, stated

WORDS = st.sampled_from([
    "vllm", "serve", "docker", "run", "python", "-m", "vllm.entrypoints.openai.api_server", "/m/x", "--model", "-tp",
    "2", "--max-model-len", "--additional-config", "{", "}", "'", '"', "\\", "\n", ";", "&&", "&", "|", ">", "#", "$",
    "`", "“", "”", "——tp", "=", "--api-key", "A=1", "export", "bash", "-c", "sudo", "env", "LLM(", ")", "model=", ",",
    "AscendOptions(", "--compilation-config.a", "--x+", "-O3", "--", "-", "--no-", "--=", "$(", "${A}", "docker exec",
    "-e", "-v", "a:b",
])  # fmt: skip


@given(
    st.one_of(st.text(), st.lists(st.one_of(WORDS, st.text(max_size=4))).map(" ".join)), st.sampled_from(["", "0.7.3"])
)
@example("vllm serve /m/x --additional-config", "")
@example("LLM(model=[", "")
@example('vllm serve /m/x --additional-config {"a":', "0.7.3")
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_no_text_breaks_it(text: str, release: str) -> None:
    found = understand(text, release, "910B4")
    json.dumps(report(found, "zh"))
    assert all(told(one.problem, "en") for one in found.findings)


ONE_WORD = re.compile(r"[^\s;&|<>#`'\"\\\u200b-\u200f\u2060\ufeff\u00ad\u2018-\u201e\uff02\uff07\u300c-\u300f\uff1b$]+")


@given(st.lists(st.one_of(
    st.from_regex(r"--?[a-z][a-z-]{0,12}(=[a-z0-9]{0,4})?", fullmatch=True), st.from_regex(ONE_WORD, fullmatch=True),
), max_size=8))  # fmt: skip
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_every_word_is_a_setting_a_finding_or_ignored(words: list[str]) -> None:
    found = read(" ".join(["vllm serve /m/x", *words]))
    told_of = {*found.taken, *(one.token for one in found.ignored)}
    told_of |= {word for one in found.findings for word in (one.token, *one.value.split())}
    told_of |= {told_word for one in found.findings for told_word in one.token.split()}
    pasted = [word.raw for command_ in apart(" ".join(["vllm serve /m/x", *words])).commands for word in command_.words]
    hidden = any(word.startswith(("--api-k", "--api_k")) for word in words)
    assert [word for word in pasted if word not in told_of and not hidden] == []


FOLDERS = st.text(st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="\ue000"), min_size=1).map(
    lambda name: f"/m/{name}"
)


@given(
    SPECS, FOLDERS, st.dictionaries(st.from_regex(r"HCCL_[A-Z]{1,5}", fullmatch=True), st.text(max_size=5), max_size=2)
)
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
def test_our_own_command_for_npus_is_understood_as_the_same_server(
    drawn: ServeSpec, folder: str, env: dict[str, str]
) -> None:
    env = {name: re.sub(r"[\ue000\x00\n\r]", "", value) for name, value in env.items()}
    asked = replace(drawn, model_folder=folder.rstrip("/") or "/m/x", extra_env=env, served_name="a/b.c")
    if backend(asked.backend).refusals(asked, TINY_MLA, MACHINE):
        return
    found = understand(shell(command(asked, "/w/r")), asked.release, asked.chip)
    assert findings(found) == {}
    assert found.spec == asked


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"kv_space_gib": 0.5, "max_num_seqs": 3},
        {"tensor_parallel": 2, "kv_space_gib": 2, "core_ids": (0, 1)},
        {"model_folder": "/模型/it's a $(folder)", "extra_env": {"OMP_NUM_THREADS": "2"}, "api_key": True},
        {"dtype": "float32", "context": None, "host": "::1"},
    ],
)
def test_our_own_command_for_the_cpu_is_understood_as_the_same_server(changes: dict[str, object]) -> None:
    asked = spec(**{"core_ids": (), **changes})
    runtime = backend("local_cpu").runtime_folder("/w", "x86_64")
    found = understand(shell(command(asked, runtime)))
    assert found.findings == ()
    assert found.spec == asked


def test_what_was_understood_can_be_stored_and_every_release_reads_the_same() -> None:
    for release in parsers.releases():
        found = understand("vllm serve /m/x -tp 2 --max-model-len 4096", release, "910B4")
        assert found.findings == ()
        assert ServeSpec.from_json(json.loads(json.dumps(found.spec.to_json()))) == found.spec
        assert found.spec.release == release


def test_a_variable_that_adds_to_itself_is_no_blank() -> None:
    found = read("export LD_PRELOAD=/x.so:$LD_PRELOAD\nexport PATH=/y:$PATH\nvllm serve /m/x -tp $TP -dp 2")
    assert list(findings(found)) == ["-tp"]
    assert stated(found)["extra_env"] == {"LD_PRELOAD": "/x.so"}
