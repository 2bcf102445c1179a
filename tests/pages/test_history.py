"""History: every job and every event."""

import pytest

from console.hosts import commands, inventory
from console.hosts.inventory import Host
from console.hosts.journal import JOURNAL
from console.jobs import history, jobs
from console.text import verbatim
from tests.pages import seed
from tests.pages.page import calm, in_language, links, opened, said


def test_it_opens(situation: str, lang: str) -> None:
    in_language(opened("history", lang=lang), lang)


def test_before_anything_was_done_it_says_what_to_do_first(host: Host) -> None:
    page = opened("history")
    assert "Nothing was done yet." in said(page)
    assert "Home" in links(page)


def test_without_a_job_no_empty_table_stands_there(host: Host) -> None:
    inventory.runner(host).run("true")
    JOURNAL.flush()
    page = opened("history")
    assert commands.commands(limit=1)
    assert "No job has run yet." in said(page)
    assert "Home" in links(page)
    assert "took" not in said(page).splitlines()


def test_every_job_is_a_link(seeded: Host) -> None:
    leads = set(links(opened("history")).values())
    assert {f"job?job={one.id}" for one in history.jobs()} <= leads


@pytest.mark.parametrize(("shown", "rows"), [("abc", 30), ("-1", 30), ("0", 30), ("2", 2), ("99999999999", 40)])
def test_more_are_shown_when_asked_for(host: Host, shown: str, rows: int) -> None:
    for number in range(40):
        jobs.enqueue("test", f"subject:{number}", host.id, verbatim(f"job {number}"), [], actor="ann")
    found = links(opened("history", shown=shown))
    assert sum(where.startswith("job?") for where in found.values()) == rows
    assert ("Show more" in found) == (rows < 40)


@pytest.mark.parametrize("subject", ["instance:1", "nothing:0", "<script>", "'; drop table event; --"])
def test_events_of_one_subject(seeded: Host, subject: str) -> None:
    page = opened("history", subject=subject)
    page.session_state["history-tabs"] = "Events"
    calm(page.run())
    expected = history.events(subject)
    if expected:
        assert len(page.dataframe[0].value) == len(expected)
    else:
        assert "Nothing happened yet." in said(page)
    assert len(history.events()) > 10


def test_a_very_long_history_opens(host: Host) -> None:
    for number in range(120):
        job_id = jobs.enqueue("test", f"subject:{number}", host.id, verbatim("x" * 500), [], actor="ann" * 40)
        seed.end(job_id)
    opened("history")
