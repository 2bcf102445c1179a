"""Home: the path with its stages, and the one button that says what is next."""

import time

from console.hosts.inventory import Host
from console.hosts.observe import RUNTIME
from console.jobs import history, jobs
from console.records import writing
from db import models
from tests.pages import seed
from tests.pages.page import in_language, keys, links, opened, press, said


def test_it_opens(situation: str, lang: str) -> None:
    in_language(opened("home", lang=lang), lang)


def test_before_anything_happened_it_says_what_to_do_first(host: Host) -> None:
    page = opened("home")
    assert page.button(key="start-pilot").label == "Start the pilot on this machine"
    assert "not checked yet" in said(page)
    assert said(page).count("to do") == 5


def test_the_button_queues_one_job_however_often_it_is_pressed(host: Host) -> None:
    first, second = opened("home"), opened("home")
    press(first, "start-pilot")
    press(second, "start-pilot")
    found = history.jobs()
    assert [(one.kind, one.state, one.then) for one in found] == [
        ("check", "queued", ("install", "start", "try", "measure"))
    ]
    assert links(first)["Show the job"] == f"job?job={found[0].id}"
    press(first, "stop-pilot")
    assert history.job(found[0].id).state == "cancelled"
    assert first.button(key="start-pilot").label == "Start the pilot on this machine"


def test_all_green_offers_what_comes_after_the_pilot(host: Host) -> None:
    seed.pilot(host)
    with writing() as session:  # the look at the runtime that the install job ends with
        now = time.time()
        probe = models.Probe(host_id=host.id, actor="console", started=now, ended=now)
        probe.observations = [models.Observation(name=RUNTIME, text="", code=0, seconds=1.0, timed_out=False)]
        session.add(probe)
    seed.look_now()
    page = opened("home")
    if "fail 0" in said(page):  # else this very machine cannot run the pilot
        assert page.button(key="start-pilot").label == "Run the pilot again on this machine"
        assert {"Talk to the model", "Watch it work"} <= set(links(page))
    assert "“Paris.”" in said(page)
    assert "From the first check to the last measurement" in said(page)


def test_a_job_that_asks_shows_its_question(busy: Host) -> None:
    page = opened("home")
    assert "Take 3 GB?" in said(page)
    assert "stop-pilot" in keys(page)


def test_a_failure_is_told_with_its_reason(seeded: Host) -> None:
    assert "The command ended with exit code 1." in said(opened("home"))


def test_what_a_model_said_is_shown_as_it_is(seeded: Host) -> None:
    page = opened("home")
    assert any(seed.SCRIPT_TAG in one.value for one in page.text)
    assert not any(seed.SCRIPT_TAG in one.value for one in page.markdown)


def test_cancelling_what_ended_meanwhile_is_no_failure(host: Host) -> None:
    page = press(opened("home"), "start-pilot")
    jobs.cancel(history.jobs()[0].id, actor="somebody else")
    press(page, "stop-pilot")
    assert len(history.jobs()) == 1
