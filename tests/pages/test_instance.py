"""One instance: evidence, attempts, events, and deleting it."""

import pytest

from console.hosts.inventory import Host
from console.jobs import history
from console.records import writing
from console.serving import instances
from console.serving.state import State
from db import models
from tests.pages.page import calm, in_language, links, opened, press, said
from tests.serving.test_ascend_backends import npus


@pytest.mark.parametrize("name", ["smollm2", "noise", "broken", "rest", "new"])
def test_it_opens(seeded: Host, lang: str, name: str) -> None:
    page = opened("instance", instance=instances.named(name).id, lang=lang)
    in_language(page, lang)
    assert page.title[0].value == name


@pytest.mark.parametrize("number", ["", "abc", "-1", "0", "999999", "1e3", "9" * 40, "²", "/etc/passwd"])
def test_an_address_without_an_instance_is_told(situation: str, lang: str, number: str) -> None:
    page = opened("instance", instance=number, lang=lang)
    in_language(page, lang)
    assert any(where == "instances?" for where in links(page).values())


def test_the_evidence_stands_beside_the_state(seeded: Host) -> None:
    page = opened("instance", instance=instances.named("smollm2").id)
    assert "What is 2 + 2?" in said(page)
    assert "2 + 2 = *4*" in [one.value for one in page.code]


def test_what_a_stopped_server_answered_before_it_was_stopped_is_no_evidence(seeded: Host) -> None:
    one = instances.named("smollm2")
    with writing() as session:
        session.get_one(models.Instance, one.id).state = State.stopped
    assert "What is 2 + 2?" not in said(opened("instance", instance=one.id))


def test_a_server_for_the_whole_network_is_told_apart(seeded: Host) -> None:
    spec = npus(host="0.0.0.0", api_key=True, served_name="open")
    page = opened("instance", instance=instances.create(seeded.id, spec, noise=False, actor="ann"))
    assert f"0.0.0.0:{spec.port}" in page.caption[0].value
    assert "127.0.0.1" not in page.caption[0].value


def test_it_is_told_how_it_runs_and_on_which_cards(seeded: Host, lang: str) -> None:
    spec = npus(backend="ascend_docker", device_ids=(0, 3), served_name="on-cards")
    one = instances.instance(instances.create(seeded.id, spec, noise=False, actor="ann"))
    how = {"en": "Ascend NPUs, in a container", "zh": "昇腾 NPU（容器）"}[lang]
    for page in (opened("instance", instance=one.id, lang=lang), opened("instances", lang=lang)):
        (line,) = [each.value for each in page.caption if "NPU 0, 3" in each.value]
        assert line.startswith(f"{how} · ")
        assert "ascend_docker" not in said(page)


def test_every_attempt_can_be_read(seeded: Host) -> None:
    one = instances.named("rest")
    page = opened("instance", instance=one.id)
    assert len(page.selectbox(key=f"attempt-3-of-{one.id}").options) == 3
    assert "INFO rest was started" in said(page)
    page.selectbox(key=f"attempt-3-of-{one.id}").select_index(2).run()
    assert "(it printed nothing)" in said(calm(page))


def test_one_never_started_says_so(seeded: Host) -> None:
    assert "It was never started." in said(opened("instance", instance=instances.named("new").id))


def test_only_what_rests_can_be_deleted_and_its_history_stays(seeded: Host) -> None:
    running, one = instances.named("smollm2"), instances.named("rest")
    assert opened("instance", instance=running.id).button(key="delete-instance").disabled
    page = press(opened("instance", instance=one.id), "delete-instance")
    assert f"Delete {one.name}?" in said(page)
    page.button(key="really-delete").click().run()
    assert "rest" not in [each.name for each in instances.instances()]
    assert history.events(one.subject)[0].became == "deleted"


def test_starting_shows_the_job(seeded: Host) -> None:
    one = instances.named("broken")
    page = press(opened("instance", instance=one.id), f"start-{one.id}")
    assert links(page)[f"Start {one.name}"] == f"job?job={history.for_subject(one.subject)[0].id}"
    assert "A job is at work on it." in page.markdown[0].value, "beside its state, in the place of why it failed"
