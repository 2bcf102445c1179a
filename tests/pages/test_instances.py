"""Instances: how each server is; start, stop, restart."""

from console.hosts.inventory import Host
from console.jobs import history
from console.serving import instances
from console.serving.state import State, Wish
from tests.pages import seed
from tests.pages.page import in_language, keys, links, opened, press, said


def test_it_opens(situation: str, lang: str) -> None:
    in_language(opened("instances", lang=lang), lang)


def test_without_a_server_it_says_what_to_do_first(host: Host) -> None:
    page = opened("instances")
    assert "No server yet." in said(page)
    assert links(page) == {"Launch": "launch?"}


def test_starting_queues_one_job(seeded: Host) -> None:
    one = instances.named("rest")
    first, second = opened("instances"), opened("instances")
    press(first, f"start-{one.id}")
    press(second, f"start-{one.id}")
    assert first.button(key=f"start-{one.id}").disabled
    assert first.button(key=f"start-{one.id}").help == "A job is at work on it."
    assert [(job.kind, job.state) for job in history.for_subject(one.subject)] == [("start", "queued")]


def test_stopping_is_a_wish_and_ends_the_start(seeded: Host) -> None:
    one = instances.named("smollm2")
    page = press(opened("instances"), f"stop-{one.id}")
    assert (instances.instance(one.id).wish, instances.instance(one.id).state) == (Wish.down, State.stopping)
    assert page.button(key=f"stop-{one.id}").disabled
    assert page.button(key=f"stop-{one.id}").help == "It is being stopped."


def test_restarting_queues_a_stop_and_a_start(seeded: Host) -> None:
    one = instances.named("smollm2")
    press(opened("instances"), f"restart-{one.id}")
    job = history.for_subject(one.subject)[0]
    assert (job.kind, [step.step.name for step in job.steps]) == ("restart", ["stop", "launch", "answer"])


def test_what_nobody_looks_at_is_not_green(host: Host) -> None:
    number = seed.instance(host, "old", State.ready, age_s=60)
    page = opened("instances")
    assert "ready" not in said(page).replace("Ready means", "")
    assert "Nobody has looked at it" in said(page)
    assert f"start-{number}" in keys(page)


def test_reasons_and_noise_are_told(seeded: Host) -> None:
    page = opened("instances")
    assert "The server ended with exit code 1." in said(page)
    assert "random weights: its words are noise" in said(page)
    assert any("[x](y)" in one.value for one in page.text), "a foreign sentence is no Markdown"
