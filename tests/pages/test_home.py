"""Home: the path with its stages, and the one button that says what is next."""

import time
from urllib.parse import parse_qs

import pytest

from console.hosts import inventory, observe
from console.hosts.inventory import Host
from console.hosts.observe import RUNTIME, Raw
from console.hosts.reach import Reach
from console.jobs import history, jobs
from console.records import writing
from console.serving import instances
from db import models
from tests.pages import seed
from tests.pages.page import in_language, keys, links, opened, press, said


def test_it_opens(situation: str, lang: str) -> None:
    in_language(opened("home", lang=lang), lang)


def test_before_anything_happened_it_says_what_to_do_first(host: Host) -> None:
    page = opened("home")
    assert page.button(key="start-pilot").label == "Start the pilot on this machine"
    assert "not checked yet" in said(page)
    assert "The host was entered" in said(page)
    assert "so far" not in said(page), "nothing was done yet"
    assert said(page).count("to do") == 6, "five stages, and the one that the walk shows"


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
    assert "Bare host to first answer" in said(page)


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


@pytest.fixture
def remote(seeded: Host) -> Host:
    return inventory.add_host("gpu_1", Reach("10.0.0.5"), actor="me")


def test_each_of_several_hosts_has_a_pilot_of_its_own(remote: Host) -> None:
    page = opened("home", host=remote.id)
    assert page.title[0].value == "Pilot on gpu_1"
    assert page.button(key="start-pilot").label == "Start the pilot on gpu_1"
    assert "this machine" not in said(page).replace("This machine", "")
    assert "no question asked yet" in said(page), "the answers of another host are not its own"
    assert "▸ **gpu\\_1**" in said(page)
    press(page, "start-pilot")
    assert [(one.kind, one.host_id) for one in history.jobs(1)] == [("check", remote.id)]
    assert opened("home").title[0].value == "Pilot on this machine"


def test_a_host_that_is_not_there_is_said(seeded: Host) -> None:
    for given in ("99", "x", "-1"):
        page = opened("home", host=given)
        assert f"“{given}”" in page.warning[0].value.replace("\\", "")
        assert page.title[0].value == "Pilot on this machine"
    assert "there is none" not in said(opened("home", host=seeded.id))


def test_the_links_of_the_stages_name_the_host(remote: Host) -> None:
    found = links(opened("home", host=remote.id))
    for name, page in {"Check": "checklist", "Install": "install", "Try": "playground"}.items():
        assert found[f"**{name}**"].startswith(f"{page}?")
        assert f"host={remote.id}" in found[f"**{name}**"]
    mine = links(opened("home"))
    ready = instances.named("smollm2").id
    assert f"instance={ready}" in mine["**Try**"]
    assert f"instance={ready}" in mine["**Measure**"]


def test_the_walk_begins_at_what_is_not_done_and_goes_back_and_on(host: Host) -> None:
    page = opened("home")
    assert "The host is asked about itself" in said(page), "this machine is reached already"
    page = press(page, "walk-back")
    assert "The console must reach the host" in said(page)
    assert page.button(key="walk-back").disabled
    assert page.query_params["stage"] == "host"
    for _ in range(6):
        page = press(page, "walk-next")
    assert "A few requests are timed" in said(page)
    assert page.button(key="walk-next").disabled
    page = press(page, "walk-first")
    assert "The host is asked about itself" in said(page)
    assert "vLLM and two small models are brought" in said(opened("home", stage="install")), (
        "it can be left and taken up by its address"
    )
    assert "The host is asked about itself" in said(opened("home", stage="nonsense"))


@pytest.mark.parametrize(
    ("stage", "kind"), [("host", "check"), ("check", "check"), ("install", "install"), ("try", "try")]
)
def test_a_stage_can_be_done_alone(host: Host, stage: str, kind: str) -> None:
    press(opened("home", stage=stage), f"walk-{stage}")
    (job,) = history.jobs()
    assert (job.kind, job.then) == (kind, ())


def test_a_failing_check_leads_to_its_fix_and_back(remote: Host) -> None:
    observe.kept.keep(remote.id, [Raw("npu_pci", "", 0, 0.1), Raw("arch", "riscv64\n", 0, 0.1)], 0.0, actor="me")
    page = opened("home", host=remote.id, stage="fix")
    assert "■ fail" in said(page)
    leads = links(page)["Show it on the Checklist"]
    assert leads.startswith("checklist?")
    address = {name: one[0] for name, one in parse_qs(leads.partition("?")[2]).items()}
    assert (address["host"], address["stage"], address["profile"]) == (str(remote.id), "fix", "ascend-two-cards")
    back = links(opened("checklist", **address))["Back to the pilot on gpu_1"]
    assert parse_qs(back.partition("?")[2]) == {"host": [str(remote.id)], "stage": ["fix"]}


def test_a_host_without_npus_may_compute_on_its_cpu(remote: Host) -> None:
    observe.kept.keep(remote.id, [Raw("npu_pci", "", 0, 0.1)], 0.0, actor="me")
    page = opened("home", host=remote.id, stage="check")
    assert "No NPU was seen on the PCI bus" in said(page)
    page = press(page, "use-cpu")
    assert "use-cpu" not in keys(page)


def test_how_long_it_took_stands_below_the_stages(seeded: Host) -> None:
    page = said(opened("home"))
    assert "Bare host to first answer:" in page
    assert "of which work:" in page
