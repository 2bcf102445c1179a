"""Install: what will be done, before and while it happens."""

from console.hosts import observe
from console.hosts.inventory import Host
from console.jobs import history, path
from tests.pages.page import in_language, opened, press, said


def test_it_opens(situation: str, lang: str) -> None:
    in_language(opened("install", lang=lang), lang)


def test_before_anything_was_done_every_step_can_be_read(host: Host) -> None:
    page = opened("install")
    steps = path.planned("install", host).steps
    assert page.expander[0].proto.expanded
    assert f"{len(steps)} steps" in said(page)
    page.selectbox(key="plan-step").set_value(1).run()
    assert steps[1].script.strip() in said(page)
    assert steps[1].verify.strip() in said(page)


def test_the_button_queues_one_job_and_then_rests(host: Host) -> None:
    page = press(opened("install"), "install-now")
    assert [(one.kind, one.state) for one in history.jobs()] == [("install", "queued")]
    assert page.button(key="install-now").disabled
    assert page.button(key="install-now").help == "It is being installed."
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
