"""Taking back what was installed on a host with NPUs, on the page: what goes, what that means, its plan, the start."""

from collections.abc import Sequence

import streamlit as st

from console.errors import ConsoleError
from console.hosts.inventory import Host
from console.jobs import installing
from console.jobs.stacks import Wish
from console.plans.step import Step
from console.serving import instances
from console.surface.dry_run_view import dry_run_button, dry_run_table
from console.surface.plan_view import plan_preview
from console.surface.ui import attempt, marked, t, who


def removal_section(host: Host, *, running: bool) -> None:
    """Shown where something was installed, or begun to be; the driver stays unless that is asked for."""
    wish = installing.installed_wish(host)
    if wish is None:
        return
    with st.expander(t("Remove what was installed"), key="removal"):
        st.caption(
            t(
                "Takes back what this console installed here and noted: the Python environment or the image of the "
                "container, and CANN. What was there before stays, and so do models and packages."
            )
        )
        with_driver = st.toggle(
            t("The driver and the firmware too"), key=f"remove-driver-{host.id}", help=t("Else both stay.")
        )
        if with_driver:
            st.warning(
                t(
                    "Without the driver nothing on this host can compute on its NPUs, whoever it belongs to. Nothing "
                    "is removed while a card is in use. At the end the host must restart, which ends everything that "
                    "runs there; the job asks before it does that."
                ),
                icon=":material/warning:",
            )
        try:
            steps = installing.removal(host, wish, with_driver=with_driver)
        except ConsoleError as error:
            st.error(marked(error.text))
            return
        _buttons(host, wish, steps, with_driver=with_driver, running=running)
        dry_run_table("dry-run-removal", host, steps)
        title = installing.removal_title(host, with_driver=with_driver)
        plan_preview(host, "remove", title, steps, key="removal-")


def _buttons(host: Host, wish: Wish, steps: Sequence[Step], *, with_driver: bool, running: bool) -> None:
    why_not = _why_not(host, running=running)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            t("Remove"),
            key="remove-now",
            icon=":material/delete:",
            disabled=why_not is not None,
            help=why_not or t("Its steps stand below; each is skipped where there is nothing to take back."),
            on_click=attempt,
            args=(installing.start_removal, host.id, wish),
            kwargs={"actor": who(), "with_driver": with_driver},
        )
        dry_run_button("dry-run-removal", host, steps)


def _why_not(host: Host, *, running: bool) -> str | None:
    """What must end first; who else holds cards is asked by the plan itself."""
    if running:
        return t("A job is at work on it.")
    up = [one.name for one in instances.instances() if one.host_id == host.id and instances.holds(one)]
    return t("Stop what runs on this host first: {names}", names=", ".join(up)) if up else None
