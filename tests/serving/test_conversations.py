"""What was said is kept until a person deletes it."""

import pytest

from console.errors import InvalidInput, NotFound
from console.hosts import inventory
from console.hosts.inventory import Host
from console.hosts.reach import Reach
from console.serving import conversations
from console.serving.conversations import Sampling
from console.serving.reply import Reply
from console.serving.state import State
from console.text import say, to_json
from tests.jobs.conftest import data, host
from tests.pages import seed

__all__ = ["data", "host"]

ODD = "\x00 中文 <script> $x$ \\ \u2028 🚀"


def begin(words: str = "why?") -> int:
    return conversations.begin(None, Sampling(), words)


@pytest.mark.parametrize(
    ("words", "title"),
    [("why?", "why?"), ("  a\n\tb  ", "a b"), ("x" * 500, "x" * 60), ("为什么" * 100, ("为什么" * 100)[:60]), ("", "")],
)
def test_it_is_named_after_its_first_words(host: Host, words: str, title: str) -> None:
    assert conversations.conversation(begin(words)).title == title


def test_turns_are_kept_as_they_were(host: Host) -> None:
    number = begin()
    conversations.add(number, "user", ODD)
    conversations.add(number, "assistant", ODD, ODD, {"ttft_s": 0.5, "partial": None})
    question, answer = conversations.conversation(number).messages
    assert (question.role, question.text, question.figures) == ("user", ODD, {})
    assert (answer.text, answer.reasoning, answer.figures) == (ODD, ODD, {"ttft_s": 0.5, "partial": None})


def test_the_latest_stands_first(host: Host) -> None:
    first, second = begin("first"), begin("second")
    conversations.add(first, "user", "again")
    assert [one.id for one in conversations.conversations()] == [first, second]
    assert conversations.conversations()[0].messages == []


def test_only_an_answer_at_the_end_is_taken_back(host: Host) -> None:
    number = begin()
    conversations.drop_last_answer(number)
    conversations.add(number, "user", "why?")
    conversations.add(number, "assistant", "because")
    conversations.drop_last_answer(number)
    conversations.drop_last_answer(number)
    assert [one.role for one in conversations.conversation(number).messages] == ["user"]


@pytest.mark.parametrize("name", ["", "  ", "\n\t"])
def test_a_name_is_needed(host: Host, name: str) -> None:
    number = begin()
    with pytest.raises(InvalidInput):
        conversations.rename(number, name)
    assert conversations.conversation(number).title == "why?"


def test_a_long_name_is_cut_and_a_padded_one_trimmed(host: Host) -> None:
    number = begin()
    conversations.rename(number, f"  {'长' * 300} ")
    assert conversations.conversation(number).title == "长" * 200


def test_deleting_takes_the_turns_and_may_be_done_twice(host: Host) -> None:
    number, other = begin(), begin("other")
    conversations.add(number, "assistant", "because", figures={"partial": None})
    conversations.add(other, "user", "stays")
    conversations.delete(number)
    conversations.delete(number)
    assert [one.id for one in conversations.conversations()] == [other]
    assert conversations.last_answer(host.id) is None
    with pytest.raises(NotFound):
        conversations.conversation(number)
    for call in (
        lambda: conversations.add(number, "user", "x"),
        lambda: conversations.rename(number, "x"),
        lambda: conversations.drop_last_answer(number),
        lambda: conversations.keep_sampling(number, None, Sampling()),
    ):
        with pytest.raises(NotFound):
            call()


def test_how_answers_are_drawn_is_kept(host: Host) -> None:
    sampling = Sampling("Be brief.", 0.0, 0.5, 7, 3, ("END", "停"))
    number = conversations.begin(None, sampling, "why?")
    assert conversations.conversation(number).sampling == sampling
    conversations.keep_sampling(number, None, Sampling())
    assert conversations.conversation(number).sampling == Sampling()


@pytest.mark.parametrize(
    "stored", [{}, {"temperature": 0.1, "of a newer console": 1}, {"stop": None}, {"stop": ["a"]}, {"stop": "a"}]
)
def test_settings_of_another_version_are_read(stored: dict[str, object]) -> None:
    found = Sampling.from_json(stored)
    assert isinstance(found.stop, tuple)
    assert found.max_tokens == Sampling().max_tokens


def test_the_last_answer_is_a_whole_one_of_a_server_on_that_host(host: Host) -> None:
    number = conversations.begin(seed.instance(host, "smol", State.stopped), Sampling(), "why?")
    conversations.add(number, "assistant", "whole", figures={"partial": None})
    conversations.add(number, "user", "and?")
    conversations.add(number, "assistant", "cut", figures={"partial": to_json(say("stopped"))})
    found = conversations.last_answer(host.id)
    assert found is not None
    assert found.text == "whole"
    other = inventory.add_host("gpu1", Reach("10.0.0.5"), actor="me")
    assert conversations.last_answer(other.id) is None


def test_the_figures_say_only_what_is_known() -> None:
    reply = Reply("smol", "a b", sent=1.0, instants=(1.5, 2.0), done=2.5, prompt_tokens=3, output_tokens=2)
    known = conversations.figures(reply)
    assert (known["ttft_s"], known["total_s"], known["tokens_per_s"]) == (0.5, 1.5, 2.0)
    assert (known["finish_reason"], known["partial"]) == (None, None)
    assert conversations.figures(Reply("smol"))["ttft_s"] is None
