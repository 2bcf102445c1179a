"""One job: its steps, logs, question, and every button."""

import re

import pytest

from console.hosts.inventory import Host
from console.jobs import history, jobs, path
from console.jobs.history import JobView
from console.jobs.states import JobState
from console.plans.step import Step
from console.records import move, writing
from console.text import Text, say, to_json, verbatim
from db import models
from tests.pages import seed
from tests.pages.page import calm, in_language, keys, links, opened, press, said


@pytest.fixture
def failed(seeded: Host) -> JobView:
    return next(one for one in history.jobs() if one.state == "failed")


@pytest.mark.parametrize("kind", ["check", "install", "start", "try", "measure"])
def test_it_opens(busy: Host, lang: str, kind: str) -> None:
    for job in history.jobs():
        if job.kind == kind:
            in_language(opened("job", job=job.id, lang=lang), lang)


@pytest.mark.parametrize("number", ["", "abc", "-1", "0", "999999", "1e3", "9" * 40, "²", "/etc/passwd"])
def test_an_address_without_a_job_is_told(situation: str, number: str) -> None:
    page = opened("job", job=number)
    assert "There is no such job. History lists them all." in said(page)
    assert links(page) == {"History": "history?"}


def test_a_finished_one_offers_nothing_to_press(seeded: Host) -> None:
    first = history.jobs()[-1]
    page = opened("job", job=first.id)
    assert keys(page) == set()
    assert "2 of 2 steps" in said(page)
    assert {f"job?job={one.id}" for one in history.journey(first.journey)} <= set(links(page).values())


def test_a_failed_one_shows_why_and_its_log(failed: JobView) -> None:
    page = opened("job", job=failed.id)
    (told,) = (re.sub(r"\\(.)", r"\1", one.value) for one in page.error)
    assert told.startswith(f"2. {failed.steps[1].step.title}: The command ended with exit code 1.")
    assert told.endswith("**bold** `code` [link](http://x) $math$"), "what the step printed last"
    assert "第一行\n**bold** `code` [link](http://x) $math$" in [one.value for one in page.code]


def test_what_a_step_runs_can_be_read(failed: JobView) -> None:
    page = opened("job", job=failed.id)
    page.toggle(key=f"script-{failed.id}-2").set_value(True).run()
    shown = [one.value for one in page.code]
    assert failed.steps[1].step.script.strip() in shown
    assert failed.steps[1].step.verify.strip() in shown


def test_resuming_keeps_what_is_done(failed: JobView) -> None:
    page = press(opened("job", job=failed.id), f"resume-{failed.id}")
    job = history.job(failed.id)
    assert (job.state, job.attempt, [one.state for one in job.steps][:2]) == ("queued", 2, ["ok", "waiting"])
    press(page, f"cancel-{failed.id}")
    assert history.job(failed.id).state == "cancelled"


def test_resuming_beside_another_job_is_refused_with_a_sentence(failed: JobView, seeded: Host) -> None:
    page = opened("job", job=failed.id)
    path.start("check", seeded.id, actor="somebody else")
    press(page, f"resume-{failed.id}")
    assert "Another job works on the same thing." in page.error[0].value
    assert history.job(failed.id).state == "failed"


def skip(job: JobView, number: int, why: str) -> str:
    page = opened("job", job=job.id)
    page.text_input(key=f"skip-why-{job.id}-{number}").set_value(why)
    button = next(one for one in page.button if one.label == "Skip")
    calm(button.click().run())
    return said(page)


def test_skipping_wants_a_reason(failed: JobView) -> None:
    assert "Say why the step can be skipped" in skip(failed, 2, "  ")
    assert history.job(failed.id).steps[1].state == "failed"


def test_a_skipped_step_shows_the_reason_as_it_was_typed(failed: JobView) -> None:
    why = "已手动完成 ![x](http://example.com/x.png)"
    shown = skip(failed, 2, why)
    assert "![x](" not in shown
    assert why in re.sub(r"\\(.)", r"\1", shown)
    step = history.job(failed.id).steps[1]
    assert (step.state, str(step.reason)) == ("skipped", why)


@pytest.mark.parametrize("words", ["yes", "no"])
def test_an_answer_reaches_the_job_once(seeded: Host, words: str) -> None:
    number = seed.waiting(seeded)
    page = opened("job", job=number)
    assert [one.value for one in page.warning if "GB" in one.value] == ["Take 3 GB?"]
    press(page, f"answer-{words}-{number}")
    told = [event for event in history.events(f"job:{number}") if event.became == "answered"]
    assert [str(event.reason) for event in told] == [words]


def test_an_answer_that_comes_too_late_is_told(seeded: Host) -> None:
    number = seed.waiting(seeded)
    page = opened("job", job=number)
    with writing() as session:
        job = session.get_one(models.Job, number)
        move(session, job, f"job:{number}", "running", actor="console")
    press(page, f"answer-yes-{number}")
    assert "does not wait for an answer any more" in page.error[0].value


def test_cancelling_a_running_one_is_asked_once(busy: Host) -> None:
    number = history.jobs()[0].id
    page = press(opened("job", job=number), f"cancel-{number}")
    assert history.job(number).cancel_wanted
    assert page.button(key=f"cancel-{number}").disabled
    assert page.button(key=f"cancel-{number}").help == "It is being cancelled."


def test_words_of_a_tool_are_no_markdown(host: Host) -> None:
    evil = "x]** ![i](http://example.com/i.png) $a$ :red[b] <script>"
    steps = [Step("one", say("Look"), script="exit 1")]
    number = jobs.enqueue("test", "subject", host.id, verbatim("job"), steps, actor="ann")
    seed.end(number, JobState.FAILED, failing=1, why=verbatim(evil))
    page = opened("job", job=number)
    shown = [one.value for one in [*page.markdown, *page.error] if "example" in one.value]
    assert len(shown) == 2, "at the head and at the step"
    for value in shown:
        assert not re.search(r"(?<!\\)[\[\]`*_$<]", value.removeprefix(":red[").removesuffix("]"))
        assert evil in re.sub(r"\\(.)", r"\1", value)


@pytest.mark.parametrize(
    ("lang", "cause", "fix"), [("en", "34736 tokens", "--max-model-len to 34736"), ("zh", "34736 个 token", "34736")]
)
def test_a_failed_step_shows_what_its_log_points_to(host: Host, lang: str, cause: str, fix: str) -> None:
    number = jobs.enqueue("test", "subject", host.id, verbatim("job"), [Step("one", say("Look"), "x")], actor="ann")
    line = "ValueError: **x** the estimated maximum model length is 34736. Try increasing `gpu_memory_utilization`"
    seed.end(number, JobState.FAILED, failing=1, why=verbatim("it failed"), log=f"INFO one\n{line}\n")
    page = opened("job", job=number, lang=lang)
    shown = [re.sub(r"\\(.)", r"\1", one.value) for one in page.markdown]
    assert [one for one in shown if cause in one and fix in one]
    assert line in [one.value for one in page.code]
    assert "vllm-project/vllm#34076" in re.sub(r"\\(.)", r"\1", said(page))


@pytest.mark.parametrize(("lang", "head"), [("en", "7.0 s by what was recorded by hand"), ("zh", "7.0 秒")])
def test_a_job_by_hand_says_whose_time_it_shows(host: Host, lang: str, head: str) -> None:
    steps = [Step("one", say("Look"), script="true"), Step("two", say("Look"), script="true")]
    title = Text(history.BY_HAND.sentence, {"title": verbatim("job")})
    number = jobs.enqueue("install", "subject", host.id, title, steps, actor="ann")
    with writing() as session:
        job = session.get_one(models.Job, number)
        for step, took in zip(job.steps, (3, 4), strict=True):
            reason = say("Done by hand on {machine} in {seconds} s.", machine="node", seconds=took)
            step.state, step.reason = "ok", to_json(reason)
        move(session, job, f"job:{number}", "running", actor="ann", started=1.0)
        move(session, job, f"job:{number}", "succeeded", actor="ann", ended=1.0)
    page = opened("job", job=number, lang=lang)
    assert [one.value for one in page.markdown if head in one.value]
    assert not [one.value for one in page.markdown if "0.0" in one.value]
    assert [one for one in page.expander if re.search(r"(?<![\d.])4 ", one.label)], "in whole seconds, as it was told"
