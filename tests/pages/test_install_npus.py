"""Install for a host with NPUs: what to choose, what stands against others, the plan, the dry run, the start."""

import time

from console.facts.probe import Raw
from console.hosts import kept
from console.jobs import history, installing, jobs, stacks
from console.plans.refusals import Route
from console.records import move, writing
from console.serving import instances
from db import models
from tests.jobs.npus import Make, make
from tests.pages.page import calm, in_language, keys, links, opened, press, said
from tests.serving.test_ascend_backends import npus

__all__ = ["make"]


def test_choose_read_try_and_start(make: Make) -> None:
    host = make("driver-missing")
    page = opened("install", host=host.id)
    offered = page.selectbox(key=f"stack-{host.id}")
    best = stacks.resolution(host).stacks[0]
    assert best.release.vllm_ascend in offered.options[0]
    assert "the driver will be installed" in offered.options[0]
    assert "Why others do not fit" in said(page)
    assert "Install driver and firmware in this order" in said(page)
    venv = next(one for one in offered.options if "without a container" in one)
    page = calm(offered.select(venv).run())
    page.selectbox(key="plan-step").set_value("driver").run()
    assert "--full --install-for-all" in said(page)
    assert "uninstall.sh" in said(page)
    own = next(one.value for one in page.code if "cards_free" in one.value)
    assert own.startswith("packages="), "with the values that it names, and without what all steps share"
    assert "\nfile=Ascend-hdk-910b-npu-driver_" in own
    assert "holders()" not in own
    assert "Takes about" in said(page)
    assert "only if needed, and it asks before" in said(page)
    page = press(page, "dry-run")
    assert "would run" in said(page)
    assert "already done" in said(page)
    page.text_input(key=f"folder-{host.id}").set_value("not absolute").run()
    assert "must be an absolute path" in said(page) or any("absolute path" in one.value for one in page.error)
    page.text_input(key=f"folder-{host.id}").set_value("/data/$(touch x) 包").run()
    page = press(page, "install-now")
    job = history.latest("install", host.id)
    assert job is not None
    assert (job.state, job.host_id) == ("queued", host.id)
    assert "packages='/data/$(touch x) 包'" in job.steps[0].step.script
    assert page.button(key="install-now").disabled


def test_a_step_that_another_plan_does_not_have_is_not_read_any_more(make: Make) -> None:
    host = make("driver-missing")
    page = opened("install", host=host.id)
    offered = page.selectbox(key=f"stack-{host.id}")
    venv, docker = (next(one for one in offered.options if how in one) for how in ("without a", "in a container"))
    page = calm(offered.select(venv).run())
    page = calm(page.selectbox(key="plan-step").set_value("toolkit").run())
    assert "install_cann" in said(page)
    page = calm(page.selectbox(key=f"stack-{host.id}").select(docker).run())
    assert page.selectbox(key="plan-step").value is None
    assert "install_cann" not in said(page)


def test_it_speaks_chinese(make: Make) -> None:
    host = make("driver-missing")
    in_language(opened("install", lang="zh", host=host.id), "zh")


def test_a_dry_run_changes_nothing(make: Make) -> None:
    host = make("two-healthy-910b4")
    steps = installing.steps(host, stacks.Wish())
    looked = {one.step.name: one for one in installing.dry_run(host, steps)}
    assert looked["level-driver"].state == "satisfied"
    assert str(looked["look"].words) == "It is always run."
    assert [one for one in history.jobs() if one.kind == "install"] == []


def test_checks_that_failed_are_named_before_an_installation(make: Make) -> None:
    host = make("too-hot")
    page = opened("install", host=host.id)
    (told,) = (one.value for one in page.warning if "Checks that failed on" in one.value)
    assert "emperature" in told
    assert links(page)["Open the Checklist"].startswith(f"checklist?host={host.id}")


def test_that_a_bare_host_has_no_driver_is_no_warning(make: Make) -> None:
    page = opened("install", host=make("driver-missing").id)
    (told,) = (one.value for one in page.info if "has no driver yet" in one.value)
    assert "Cards in npu\\-smi · Driver" in told
    assert not [one for one in page.warning if "Checks that failed on" in one.value]


def test_the_bundle_that_is_advised_is_that_of_the_chosen_stack(make: Make) -> None:
    host = make("driver-missing")
    page = opened("install", host=host.id)
    best = stacks.resolution(host).stacks[0]
    (line,) = (one.value for one in page.code if "pilot bundle build" in one.value)
    assert f"--stack {best.release.vllm_ascend} " in line
    assert f"--python {best.python} --route {best.route}" in line
    assert f"Python {best.python}" in page.selectbox(key=f"stack-{host.id}").options[0]


def test_an_installation_leads_on(make: Make) -> None:
    host = make("two-healthy-910b4")
    assert "Launch a server" not in links(opened("install", host=host.id))
    backend = stacks.backend(host)
    kept.keep(host.id, [Raw(f"{kept.RUNTIMES}{backend}", "an image:v0.23.0\n", 0, 0.1)], time.time(), actor="ann")
    assert links(opened("install", host=host.id))["Launch a server"] == f"launch?host={host.id}"


def test_what_was_installed_is_taken_back_and_the_driver_only_if_wished(make: Make) -> None:
    host = make("two-healthy-910b4")
    assert "remove-now" not in keys(opened("install", host=host.id)), "nothing was ever installed here"
    number = installing.start(host.id, stacks.Wish(Route.VENV, "0.23.0"), actor="wang")
    page = opened("install", host=host.id)
    assert page.button(key="remove-now").help == "A job is at work on it."
    jobs.cancel(number, actor="wang")
    page = opened("install", host=host.id)
    assert page.toggle(key=f"remove-driver-{host.id}").value is False
    assert not [one for one in page.warning if "Without the driver" in one.value]
    page = press(page, "dry-run-removal")
    assert said(page).count("already done") == 5, "the host has nothing of it"
    page = calm(page.toggle(key=f"remove-driver-{host.id}").set_value(True).run())
    (told,) = (one.value for one in page.warning if "Without the driver" in one.value)
    assert "Nothing is removed while a card is in use." in told
    assert "already done" not in said(page), "that dry run was of another plan"
    page = press(page, "remove-now")
    job = history.latest("remove", host.id)
    assert job is not None
    names = [one.step.name for one in job.steps]
    assert names[0] == "cards-free"
    assert {"remove-venv", "remove-toolkit", "remove-driver", "restart-after"} < set(names)
    assert f"#{job.id} " in said(page)
    assert page.button(key="remove-now").disabled
    assert page.button(key="install-now").disabled


def test_nothing_is_taken_back_below_a_server_that_runs(make: Make) -> None:
    host = make("two-healthy-910b4")
    stacks.choose(host, stacks.Wish(Route.VENV, "0.23.0"), actor="wang")
    spec = npus(model_folder="/models/one", served_name="one", backend="ascend_docker")
    number = instances.create(host.id, spec, noise=False, actor="wang")
    assert not opened("install", host=host.id).button(key="remove-now").disabled, "it was never started"
    with writing() as session:
        move(session, session.get_one(models.Instance, number), f"instance:{number}", "starting", actor="wang")
    assert "one" in opened("install", host=host.id).button(key="remove-now").help
