"""The API key of a server is on no page and in no address: launched, asked and failed, every page is read."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from console.hosts.inventory import Host
from console.hosts.journal import JOURNAL
from console.jobs import history
from console.serving import instances, launch
from console.serving.code_view import KEY
from console.serving.instances import Instance
from console.serving.state import State
from tests.jobs.conftest import worker
from tests.pages.page import PAGES, calm, opened, press, said
from tests.pretended_machine import machine, misfort
from tests.running import until

__all__ = ["machine", "worker"]
pytestmark = [pytest.mark.engine]
NAMES = sorted(one.stem for one in PAGES.glob("*.py") if one.stem != "app")


def everything(page: AppTest) -> str:
    """All that the browser gets: words, links, help, options, and the address line."""
    return "\n".join([*(str(getattr(node, "proto", "")) for node in _nodes(page._tree)), str(page.query_params)])


def _nodes(block: Any) -> Iterator[Any]:
    yield block
    for child in getattr(block, "children", {}).values():
        yield from _nodes(child)


def launched() -> Instance:
    """From the form, with the switch for the key."""
    page = opened("launch")
    (switch,) = [one for one in page.toggle if (one.key or "").startswith("key-")]
    page = press(calm(switch.set_value(True).run()), "launch-start")
    return instances.instance(int(page.query_params["instance"][0]))


def asked() -> AppTest:
    page = opened("playground")
    return calm(page.chat_input(key="question").set_value("What is the capital of France?").run())


def shown(one: Instance, names: Sequence[str]) -> dict[str, str]:
    """Each of these pages where it is about this server."""
    JOURNAL.flush()
    about = {"host": one.host_id, "instance": one.id, "conversation": 1, "job": history.jobs(1)[0].id}
    return {name: everything(opened(name, **about)) for name in names}


def test_it_is_on_no_page_of_a_server_that_answers_and_of_one_that_fails(machine: Host, data: Path) -> None:
    one = launched()
    until(lambda: instances.instance(one.id).state == State.ready, what="a ready server")
    key = launch.api_key(one)
    assert key
    answer = asked()
    assert "Paris" in said(answer)
    pages = {"answer": everything(answer), **shown(one, NAMES)}
    assert KEY in pages["answer"], "as code, with a place for the key"
    assert "VLLM_API_KEY" in pages["instance"], "by the name of its variable"
    assert [name for name in ("instances", "monitor", "job", "history") if one.name not in pages[name]] == []
    assert [name for name, words in pages.items() if key in words] == []
    instances.wish_down(one.id, actor="me")
    until(lambda: instances.instance(one.id).state == State.stopped, what="its end")
    misfort(data, "--exit-at-start 3")
    press(opened("instance", instance=one.id), f"start-{one.id}")
    until(lambda: instances.instance(one.id).state == State.failed, what="its failure")
    until(lambda: not history.active_count(), what="the end of the job")
    pages = shown(one, ("home", "instances", "instance", "job", "history"))
    assert [name for name, words in pages.items() if "failed" not in words] == []
    assert [name for name, words in pages.items() if key in words] == []


def test_it_goes_into_a_file_for_who_asks_and_is_not_shown_then_either(host: Host) -> None:
    spec = {"backend": "local_cpu", "model_folder": "/m/smol", "served_name": "smol", "port": 18123}
    number = instances.create(host.id, instances.ServeSpec(**spec, api_key=True), noise=False, actor="me")  # type: ignore[arg-type]
    page = opened("instance", instance=number)
    assert "a placeholder stands where it belongs" in said(page)
    before = [one.proto.url for one in page.get("download_button")]
    page = calm(page.toggle(key=f"export-key-{number}").set_value(True).run())
    key = launch.api_key(instances.instance(number))
    assert key
    assert key not in everything(page)
    assert "a placeholder stands where it belongs" not in said(page)
    assert len(before) == len(page.get("download_button")) > 0
    assert not set(before) & {one.proto.url for one in page.get("download_button")}, "other files"
