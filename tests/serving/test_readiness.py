"""Warm-up and sanity question: sense, nonsense, noise and silence."""

import pytest

from console.errors import EngineError
from console.serving.client import EngineClient
from console.serving.readiness import SANITY, Question, Verdict, normalised, prove, warm_up
from tests.running import until
from tests.serving.pretended import pretended

CHINESE = SANITY[1]


def proved(
    misfortunes: str = "", *, noise: bool = False, question: Question = SANITY[0], silence_s: float = 20
) -> Verdict:
    with pretended(f"--token-s 0.001 {misfortunes}") as url, EngineClient(url, silence_s=silence_s) as client:
        return prove(client, "smol", noise=noise, question=question)


def test_a_right_answer_is_sane_and_kept_as_evidence() -> None:
    verdict = proved()
    assert verdict.sane
    evidence = verdict.evidence()
    assert evidence["question"] == "What is the capital of France?"
    assert evidence["answer"] == "The capital of France is Paris."
    assert evidence["finish_reason"] == "stop"
    assert verdict.latency_s is not None
    assert verdict.ttft_s is not None
    assert 0 < verdict.ttft_s <= verdict.latency_s


def test_chinese_and_thinking_models_are_understood() -> None:
    assert proved(question=CHINESE).sane
    assert proved("--reasoning").sane


@pytest.mark.parametrize(
    ("misfortune", "words"),
    [
        ("--answers garbage", "wrong"),
        ("--answers noise", "repeats"),
        ("--answers nothing", "nothing"),
        ("--answers 'text:Parisian food is good'", "wrong"),
        ("--answers 'text:Paris Paris Paris Paris Paris Paris Paris Paris Paris Paris Paris Paris Paris'", "repeats"),
        (
            "--answers 'text:巴黎的的的的的的的的的的的的的的的的的的的的的的的的的的'",
            "repeats",
        ),
        ("--answers text:!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!", "repeats"),
    ],
)
def test_fluent_and_other_garbage_is_not_sane(misfortune: str, words: str) -> None:
    verdict = proved(misfortune)
    assert not verdict.sane
    assert words in str(verdict.label)


def test_a_right_answer_in_many_words_is_sane() -> None:
    long = (
        "text:The capital of France is Paris. Paris is the largest city of France, on the river Seine, and it has been "
        "the capital of France for most of its history. It is known for its museums and for the Eiffel Tower."
    )
    assert proved(f"--answers '{long}'").sane
    zh = (
        "text:法国的首都是巴黎。巴黎位于法国北部,塞纳河畔,是法国最大的城市,"
        "也是政治、经济和文化的中心,以卢浮宫和埃菲尔铁塔闻名。"
    )
    assert proved(f"--answers '{zh}'", question=CHINESE).sane


def test_noise_must_only_speak_and_is_called_noise() -> None:
    verdict = proved("--answers noise", noise=True)
    assert verdict.sane
    assert verdict.finish_reason == "length"
    assert "random weights" in str(verdict.label)
    assert not proved("--answers nothing", noise=True).sane


def test_no_whole_answer_is_an_error_and_no_verdict() -> None:
    for misfortune in ("--hang-after 1", "--drop-after 1", "--error-after 1", "--refuse 500"):
        with pytest.raises(EngineError):
            proved(misfortune, silence_s=0.5)


def test_warming_up_takes_one_request() -> None:
    with pretended() as url, EngineClient(url) as client:
        assert warm_up(client, "smol") > 0
        counted = 'finished_reason="stop",model_name="smol"} 1.0'  # a moment after the answer
        until(lambda: counted in client.metrics(), what="the count of one request")


def test_normalising_joins_what_looks_the_same() -> None:
    assert normalised("  ＰＡＲＩＳ \n is") == "paris is"
