"""Playground: asking, stopping, asking again, and what is kept, against a server on a real socket."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.testing.v1 import AppTest

from console.hosts import inventory
from console.hosts.inventory import Host
from console.hosts.reach import Reach
from console.records import writing
from console.serving import conversations, instances
from console.serving.state import State
from db import models
from tests.pages import seed
from tests.pages.page import calm, in_language, keys, links, opened, press, said
from tests.serving.pretended import pretended


@contextmanager
def ready(host: Host, misfortunes: str = "", *, key: str | None = None, noise: bool = False) -> Iterator[str]:
    """A pretended server that the console knows as a ready instance; its base URL."""
    with pretended(misfortunes, key=key) as url:
        number = seed.instance(host, "smol", State.ready, port=int(url.rsplit(":", 1)[1]), noise=noise)
        yield url
        with writing() as session:
            session.get_one(models.Instance, number).state = State.stopped


def ask(page: AppTest, words: str) -> AppTest:
    seed.look_now()
    return calm(page.chat_input(key="question").set_value(words).run())


def turns(number: int = 1) -> list[tuple[str, str]]:
    return [(one.role, one.text) for one in conversations.conversation(number).messages]


def test_it_opens(situation: str, lang: str) -> None:
    in_language(opened("playground", lang=lang), lang)


def test_without_a_server_it_says_what_to_do_first(host: Host) -> None:
    page = opened("playground")
    assert "No server is ready to talk to." in said(page)
    assert "Instances" in links(page)
    assert not page.chat_input


def test_what_was_said_can_be_read_without_a_server(host: Host) -> None:
    number = seed.conversation(seed.instance(host, "smol", State.stopped), "why?", ["because"])
    page = opened("playground", conversation=number)
    assert "because" in said(page)
    press(page, "rename-talk")


@pytest.mark.parametrize("answer", seed.SAID)
def test_any_answer_can_be_shown(seeded: Host, answer: str) -> None:
    number = seed.conversation(instances.named("smollm2").id, "why?", [answer, answer])
    page = opened("playground", conversation=number)
    assert [one.value for one in page.markdown].count(answer.strip()) == 2
    assert not any(one.proto.allow_html for one in page.markdown)
    assert "first token after 120 ms · 31.4 tokens/s · 7 prompt + 42 answer tokens" in said(page)


@pytest.mark.parametrize("number", ["x", "-1", "0", "999999", "9" * 30, "/etc/passwd"])
def test_an_address_without_a_conversation_begins_a_new_one(seeded: Host, number: str) -> None:
    page = opened("playground", conversation=number, instance=number)
    assert "Ask something below; the conversation gets a name and an address of its own." in said(page)


def test_the_address_chooses_the_server(seeded: Host) -> None:
    noise = instances.named("noise")
    page = opened("playground", instance=noise.id)
    assert page.selectbox(key="talk-instance").value == noise.id
    assert any("random weights" in one.value for one in page.warning)
    assert opened("playground").selectbox(key="talk-instance").value == instances.named("smollm2").id


def test_an_answer_is_kept_with_its_figures_and_the_talk_has_an_address(host: Host) -> None:
    with ready(host):
        page = ask(opened("playground"), "What is the capital of France?")
        assert turns() == [("user", "What is the capital of France?"), ("assistant", "The capital of France is Paris.")]
        assert page.query_params["conversation"] == "1"
        for figure in ("first token after", "tokens/s", "prompt + 7 answer tokens", "in all", "smol"):
            assert figure in page.caption[-1].value
        ask(page, "count to 3")
        assert turns()[2:] == [("user", "count to 3"), ("assistant", "1 2 3")]
        assert len(conversations.conversations()) == 1


def test_how_answers_are_drawn_is_remembered(host: Host) -> None:
    with ready(host):
        page = opened("playground")
        page.text_area(key="system-0").set_value("Be brief.")
        page.number_input(key="most-0").set_value(3)
        page.number_input(key="seed-0").set_value(7)
        page.text_area(key="stop-0").set_value("END\n\n5")
        ask(page, "count to 9")
        assert turns()[-1] == ("assistant", "1 2 3")
        assert "cut at the most tokens allowed" in page.caption[-1].value
        kept = conversations.conversation(1).sampling
        assert (kept.system, kept.max_tokens, kept.seed, kept.stop) == ("Be brief.", 3, 7, ("END", "5"))
        again = opened("playground", conversation=1)
        assert again.number_input(key="most-1").value == 3
        assert '"content": "Be brief."' in again.code[0].value


@pytest.mark.parametrize(("seconds", "told"), [(0.0341, "34 ms in all"), (1.26, "1.3 s in all")])
def test_an_answer_never_takes_no_time(host: Host, seconds: float, told: str) -> None:
    number = seed.conversation(seed.instance(host, "smol", State.stopped), "why?", [])
    conversations.add(number, "assistant", "so", "", {"ttft_s": 0.012, "total_s": seconds})
    assert f"first token after 12 ms · {told}" in said(opened("playground", conversation=number))


def as_code(on: Host, **spec: object) -> tuple[str, str]:
    """What stands above the request, and the request as a command, for a server like this."""
    number = seed.instance(on, "smol", State.ready)
    one = instances.instance(number)
    with writing() as session:
        session.get_one(models.Instance, number).spec = json.dumps(replace(one.spec, **spec).to_json())  # type: ignore[arg-type]
    page = opened("playground", instance=number)
    command = next(each.value for each in page.code if each.value.startswith("curl"))
    above = page.code[0].value if page.code[0].value != command else ""
    return "\n".join([*(each.value for each in page.caption), above]), command


def test_as_code_it_says_how_to_get_to_a_server_of_another_host(data: Path) -> None:
    far = inventory.add_host("npu-1", Reach("192.0.2.7", 2222, "ops", key_file="/keys/a key"), actor="ann")
    above, command = as_code(far)
    assert "On npu-1 itself this works as it stands" in above
    assert "ssh -N -L 8100:127.0.0.1:8100 -i '/keys/a key' -p 2222 ops@192.0.2.7" in above
    assert "http://127.0.0.1:8100/v1/" in command


def test_as_code_a_server_for_the_whole_network_is_reached_by_the_address_of_its_host(data: Path) -> None:
    far = inventory.add_host("npu-1", Reach("2001:db8::7"), actor="ann")
    above, command = as_code(far, host="0.0.0.0", api_key=True)
    assert "wherever npu-1 is reached" in above
    assert "ssh" not in above
    assert "http://[2001:db8::7]:8100/v1/" in command
    assert "YOUR_API_KEY" in command
    assert "The key goes in the place of" in above


def test_as_code_on_this_machine_the_address_is_left_to_the_reader(host: Host) -> None:
    above, command = as_code(host, host="0.0.0.0", api_key=True)
    assert "put an address of this machine in the place of 127.0.0.1" in above
    assert "http://127.0.0.1:8100/v1/" in command


def test_thoughts_are_folded_away(host: Host) -> None:
    with ready(host, "--reasoning"):
        page = ask(opened("playground"), "2 + 2")
        assert [one.label for one in page.expander] == ["Thoughts"]
        assert conversations.conversation(1).messages[1].reasoning == "Let me think."


def stop_after(url: str, tokens: int) -> threading.Thread:
    """What the stop button does, once the server has sent so many tokens."""

    def watch() -> None:
        while _sent(url) < tokens:
            time.sleep(0.05)
        thread = next(one for one in threading.enumerate() if one.name == "ScriptRunner.scriptThread")
        context = thread.streamlit_script_run_ctx  # type: ignore[attr-defined]
        context.script_requests.request_stop()

    thread = threading.Thread(target=watch)
    thread.start()
    return thread


def _sent(url: str) -> float:
    lines = httpx.get(f"{url}/metrics", trust_env=False).text.splitlines()
    return sum(float(line.split()[-1]) for line in lines if line.startswith("vllm:generation_tokens_total"))


def test_stopping_half_way_keeps_what_arrived(host: Host) -> None:
    with ready(host, "--token-s 0.05") as url:
        page = opened("playground")
        watcher = stop_after(url, 5)
        seed.look_now()
        page.chat_input(key="question").set_value("count to 4000").run()
        watcher.join()
        (_, question), (role, words) = turns()
        assert (question, role) == ("count to 4000", "assistant")
        assert words.startswith("1 2 3")
        assert " 4000" not in words
        again = opened("playground", conversation=1)
        assert "not whole: It was stopped before it was finished" in again.caption[-1].value
        assert "answer tokens" in again.caption[-1].value
    assert get_script_run_ctx(suppress_warning=True) is None


def test_an_answer_can_be_drawn_again(host: Host) -> None:
    with ready(host):
        page = ask(opened("playground"), "count to 3")
        seed.look_now()
        press(page, "again")
        assert turns() == [("user", "count to 3"), ("assistant", "1 2 3")]


def test_an_error_half_way_is_told_and_the_words_before_it_are_kept(host: Host) -> None:
    with ready(host, "--error-after 3"):
        page = ask(opened("playground"), "count to 9")
        assert "EngineCore encountered an issue" in page.error[0].value
        assert turns()[-1] == ("assistant", "1 2 3")
        assert "not whole" in page.caption[-1].value
        assert not calm(page.run()).error, "told once"


def test_a_refusal_is_told_and_the_question_can_be_asked_again(host: Host) -> None:
    with ready(host, "--refuse 500"):
        page = ask(opened("playground"), "count to 9")
        assert "answered with status 500" in page.error[0].value
        assert turns() == [("user", "count to 9")]
        assert page.button(key="again").label == "Answer this"


def test_a_server_that_vanished_leaves_the_answer_there_was(host: Host) -> None:
    with ready(host):
        page = ask(opened("playground"), "count to 3")
    one = instances.named("smol")
    with writing() as session:
        session.get_one(models.Instance, one.id).state = State.ready
    seed.look_now()
    press(page, "again")
    assert "Nothing answers at" in page.error[0].value
    assert turns() == [("user", "count to 3"), ("assistant", "1 2 3")]


def test_a_key_is_sent_and_not_shown(host: Host, data: Path) -> None:
    with ready(host, key="the-secret-key"):
        one = instances.named("smol")
        (data / "keys").mkdir()
        (data / "keys" / f"{one.id}.env").write_text("VLLM_API_KEY=the-secret-key\nexport VLLM_API_KEY\n")
        with writing() as session:
            row = session.get_one(models.Instance, one.id)
            row.spec = row.spec.replace('"api_key": false', '"api_key": true')
        page = ask(opened("playground"), "count to 3")
        assert turns()[-1] == ("assistant", "1 2 3")
        assert "the-secret-key" not in said(page)


def test_a_conversation_is_renamed_and_deleted(seeded: Host) -> None:
    number = seed.conversation(instances.named("smollm2").id, "why?", ["because"])
    page = opened("playground", conversation=number)
    page.text_input(key=f"name-{number}").set_value("  Über 名字 ")
    press(page, "rename-talk")
    assert conversations.conversation(number).title == "Über 名字"
    page.text_input(key=f"name-{number}").set_value("   ")
    press(page, "rename-talk")
    assert page.error[0].value == "A conversation needs a name."
    assert page.button(key="delete-talk").disabled
    page.checkbox(key=f"sure-{number}").set_value(True).run()
    press(page, "delete-talk")
    assert number not in [one.id for one in conversations.conversations()]
    assert "conversation" not in page.query_params
    assert "delete-talk" not in keys(page)


def test_one_deleted_in_another_tab_is_no_failure(seeded: Host) -> None:
    number = seed.conversation(instances.named("smollm2").id, "why?", ["because"])
    page = opened("playground", conversation=number)
    conversations.delete(number)
    press(page, "rename-talk")
    assert page.error[0].value == "This conversation does not exist (any more)."


def test_going_from_one_conversation_to_another_and_to_a_new_one(seeded: Host) -> None:
    first, second = conversations.conversations()[:2]
    page = opened("playground", conversation=first.id)
    calm(page.selectbox(key="talk").set_value(second.id).run())
    assert page.query_params["conversation"] == str(second.id)
    press(page, "new-talk")
    assert "conversation" not in page.query_params
    assert "Ask something below" in said(page)
