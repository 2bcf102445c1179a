"""Commands on the History page, and the password of sudo on the page of a job."""

import pytest
from streamlit.testing.v1 import AppTest

from console.hosts import inventory
from console.hosts.inventory import Host
from console.hosts.journal import JOURNAL, acting
from console.hosts.reach import Reach, Sudo
from console.jobs import as_root, jobs
from console.text import say
from tests.pages import seed
from tests.pages.page import calm, in_language, keys, opened, said


@pytest.fixture
def sent(host: Host) -> Host:
    with acting("ann"):
        inventory.runner(host).run("echo first\necho '<b>second'; exit 4")
    with acting("bob"):
        inventory.runner(host).run("true")
    JOURNAL.flush()
    return host


def commands(lang: str = "en") -> AppTest:
    page = opened("history", lang=lang)
    page.session_state["history-tabs"] = "命令" if lang == "zh" else "Commands"
    return calm(page.run())


def test_who_sent_what_and_how_it_ended(sent: Host) -> None:
    shown = said(commands())
    assert "<summary>echo first</summary>" in shown
    assert "exit code 4" in shown
    assert "<b>second" not in shown
    assert all(name in shown for name in ("ann", "bob", "this machine"))


def test_by_person_and_by_host(sent: Host) -> None:
    page = commands()
    page.selectbox(key="commands-who").set_value("bob").run()
    assert "echo first" not in said(page)
    inventory.add_host("other", Reach("10.0.0.5"), actor="me")
    page = commands()
    page.selectbox(key="commands-host").set_value(2).run()
    assert "No such command was sent" in said(page)


def test_in_both_languages(sent: Host, lang: str) -> None:
    in_language(commands(lang), lang)


def test_a_job_that_waits_for_sudo_asks_for_a_password(host: Host) -> None:
    far = inventory.add_host("npu-1", Reach("127.0.0.1", 1, "ops", sudo=Sudo.PASSWORD), actor="me")
    job_id = jobs.enqueue("test", "subject:1", far.id, say("Check"), [seed.Step("x", say("Check"))], actor="me")
    asked = as_root.question(far)
    seed.end(job_id, seed.JobState.WAITING, failing=1, why=asked, question=asked)
    page = opened("job", job=job_id)
    assert f"answer-yes-{job_id}" not in keys(page)
    page.text_input(key=f"sudo-typed-{far.id}").set_value("hunter2")
    send = next(one for one in page.button if one.label == "Hand it to the worker")
    page = calm(send.click().run())
    assert page.text_input(key=f"sudo-typed-{far.id}").value == ""
    assert "refuses connections" in " ".join(one.value for one in page.error)
    assert "hunter2" not in said(page)


def test_a_host_where_sudo_asks_says_so(host: Host) -> None:
    far = inventory.add_host("npu-1", Reach("127.0.0.1", 1, "ops", sudo=Sudo.PASSWORD), actor="me")
    page = opened("hosts")
    assert "jobs that become root ask for it" in said(page)
    page = calm(page.button(key=f"sudo-open-{far.id}").click().run())
    assert page.text_input(key=f"sudo-typed-{far.id}").value == ""
