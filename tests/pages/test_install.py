"""Install: what will be done, before and while it happens."""

import subprocess
from pathlib import Path

import pytest

from console.hosts import inventory, observe
from console.hosts.inventory import Host
from console.hosts.reach import Reach
from console.jobs import by_hand, history, path
from console.plans.step import Step
from console.text import verbatim
from tests.hosts.said import say_again
from tests.pages.page import calm, in_language, opened, press, said


def test_it_opens(situation: str, lang: str) -> None:
    in_language(opened("install", lang=lang), lang)


def test_before_anything_was_done_every_step_can_be_read(host: Host) -> None:
    page = opened("install")
    steps = path.planned("install", host).steps
    assert page.expander[0].proto.expanded
    assert f"{len(steps)} steps" in said(page)
    page.selectbox(key="plan-step").select_index(1).run()
    assert steps[1].script.strip() in said(page)
    own = page.code[0].value
    first = next(line for line in own.splitlines() if "=" not in line)
    assert steps[1].script.endswith(f"{own[own.index(first) :]}\n")
    assert "pip_version=" in own, "with the values that it names"
    assert len(own) < len(steps[1].script) / 2, "what all steps share does not stand before it"
    assert steps[1].verify.strip() in said(page)


def test_the_button_queues_one_job_and_then_rests(host: Host) -> None:
    page = press(opened("install"), "install-now")
    assert [(one.kind, one.state) for one in history.jobs()] == [("install", "queued")]
    assert page.button(key="install-now").disabled
    assert page.button(key="install-now").help == "A job is at work on it."
    press(page, f"cancel-{history.jobs()[0].id}")
    assert history.jobs()[0].state == "cancelled"
    assert not page.button(key="install-now").disabled


def test_looking_writes_down_what_is_there(host: Host) -> None:
    page = press(opened("install"), "look-runtime")
    found = observe.runtime(host)
    assert found is not None
    assert not found.complete
    assert "vLLM is not installed" in said(page)


def test_a_failed_installation_shows_its_log_and_can_be_resumed(seeded: Host) -> None:
    failed = history.latest("install", seeded.id)
    assert failed is not None
    page = opened("install")
    assert "第一行\n**bold**" in said(page)
    press(page, f"resume-{failed.id}")
    assert (history.job(failed.id).state, history.job(failed.id).attempt) == ("queued", 2)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_results_of_the_script_come_back(host: Host, tmp_path: Path, lang: str) -> None:
    steps = [Step("one", verbatim("One"), "true"), Step("two", verbatim("Two"), "echo why; exit 3")]
    (tmp_path / "install.sh").write_text(by_hand.export(host, "install", verbatim("Install"), steps))
    out = subprocess.run(["sh", "install.sh"], cwd=tmp_path, capture_output=True, text=True, check=False).stdout
    page = opened("install", host=host.id, lang=lang)
    assert page.button(key="results-record").disabled
    page = calm(page.text_area(key=f"results-text-{host.id}").set_value(out[:-20]).run())
    assert [one for one in page.error if "pilot-results-" in one.value]
    assert page.button(key="results-record").disabled, "nothing of it could be recorded"
    assert page.button(key="results-record").help in [one.value.replace("\\", "") for one in page.error]
    assert page.text_area(key=f"results-text-{host.id}").value == out[:-20], "nothing of it is lost"
    assert history.jobs() == []
    page = calm(page.text_area(key=f"results-text-{host.id}").set_value(out).run())
    page = press(page, "results-look")
    assert "why" in said(page)
    page = press(page, "results-record")
    (job,) = history.jobs()
    assert (job.state, [one.state for one in job.steps]) == ("failed", ["ok", "failed"])
    assert [one.value for one in page.success if f"{job.id}" in one.value]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_host_that_was_never_asked_is_asked_before_anything_is_installed(host: Host, lang: str) -> None:
    """It may have NPUs; until that is known the page can only show what a CPU would get."""
    other = inventory.add_host("far", Reach("192.0.2.7", 22, "ops"), actor="ann")
    page = opened("install", lang=lang, host=str(other.id))
    in_language(page, lang)
    assert page.button(key="install-now").disabled
    press(page, f"ask-{other.id}")
    assert [(one.kind, one.host_id) for one in history.jobs()] == [("check", other.id)]
    say_again(other, npu_pci="")
    page = opened("install", lang=lang, host=str(other.id))
    assert f"ask-{other.id}" not in {one.key for one in page.button}
    assert not page.button(key="install-now").disabled
