"""What a bundle folder holds, what is missing with its exact name and place, and the button that brings it to hosts."""

from pathlib import Path
from shlex import quote

import streamlit as st

from console.bundles import manifest, verify
from console.bundles.manifest import Manifest
from console.bundles.taking import take
from console.bundles.verify import Finding, Trouble
from console.errors import ConsoleError
from console.hosts import inventory
from console.hosts.inventory import Host
from console.jobs import bundling, history, stacks
from console.plans.needs import DriverState
from console.plans.resolve import Stack
from console.surface.calm_table import Cell, Head, calm_table
from console.surface.jobs_view import job_panel
from console.surface.ui import attempt, mark, marked, size, t, who, words

BUILD = "pilot bundle build --stack {stack} --chip {chip} --os {os} --arch {arch} --python {python} --route {route}"
EXAMPLE = {
    "stack": "0.23.0", "chip": "910B4", "os": "ubuntu-22.04", "arch": "aarch64", "python": "3.11", "route": "docker",
}  # fmt: skip
"""Where no stack is chosen for the host, or too little is known of it."""


def bundle_section(host: Host, stack: Stack | None) -> None:
    """At the end of the Install page: packages for hosts without internet, from a folder of the console's machine.

    `stack` is what is chosen for the host; the command that is shown builds the bundle of just that.
    """
    with st.expander(t("Packages for a host without internet"), key="bundle", icon=":material/inventory_2:"):
        typed = st.text_input(
            t("Folder of the bundle on this machine"), key="bundle-folder", placeholder="/home/me/bundle"
        )
        if not typed.strip():
            st.caption(
                t(
                    "A bundle is a folder with everything an installation needs. Build one on a machine with internet, "
                    "carry it here, then name its folder above. Or copy it to {folder} on the host by hand.",
                    folder=f"{host.work_folder}/packages",
                )
            )
            st.code(_build(host, stack), language="bash", wrap_lines=True)
            return
        folder = Path(typed.strip()).expanduser()
        try:
            whole, findings = manifest.required(folder), verify.verify(folder, hashes=False)
        except ConsoleError as error:
            st.error(marked(error.text))
            return
        _holds(whole)
        _other_stack(whole, stack)
        _findings(folder, findings)
        if whole.missing:
            st.button(
                t("Take in what was brought"),
                key="bundle-take",
                on_click=attempt,
                args=(take, folder),
                help=t("Looks at every awaited file that is there now, its content too, and needs no internet."),
            )
        _push(host, folder, findings)
    last = history.latest(bundling.KIND, host.id)
    if last is not None:
        with st.container(border=True, key="bundle-job"):
            st.page_link("job.py", label=f"#{last.id} {words(last.title)}", query_params={"job": str(last.id)})
            job_panel(last.id)


def _build(host: Host, stack: Stack | None) -> str:
    target = None if stack is None else stacks.target(host)
    if stack is None or target is None or not (target.chip and target.system and target.arch):
        return f"{BUILD.format(**EXAMPLE)} FOLDER"
    asked = {
        "stack": stack.release.vllm_ascend, "chip": target.chip, "os": target.system, "arch": target.arch,
        "python": stack.python, "route": str(stack.route),
    }  # fmt: skip
    stays = target.driver is not None and stack.driver.state in (DriverState.FITS, DriverState.UNLISTED)
    driver = f" --driver {quote(target.driver or '')}" if stays else ""
    return BUILD.format(**{name: quote(value) for name, value in asked.items()}) + f"{driver} FOLDER"


def _holds(whole: Manifest) -> None:
    order = whole.order
    st.markdown(
        t(
            "For vllm-ascend {release} with CANN {cann} on {family} chips, {system} on {arch}, Python {python}, by "
            "{route}.",
            release=order.vllm_ascend,
            cann=order.cann,
            family=order.family,
            system=order.system,
            arch=order.arch,
            python=order.python,
            route=order.route,
        )
    )
    kinds = list(dict.fromkeys(one.kind for one in whole.files))
    rows = [
        [
            Cell(_kind(kind)),
            Cell(str(sum(one.kind == kind for one in whole.files))),
            Cell(size(sum(one.size for one in whole.files if one.kind == kind))),
        ]
        for kind in kinds
    ]
    if rows:
        calm_table("bundle", [Head(t("Kind")), Head(t("Files"), right=True), Head(t("Size"), right=True)], rows)
    else:
        st.caption(t("It holds no file yet."))


def _other_stack(whole: Manifest, stack: Stack | None) -> None:
    """The bundle is of another release or way than what is chosen above it on the page."""
    order = whole.order
    if stack is not None and (order.vllm_ascend, order.route) != (stack.release.vllm_ascend, str(stack.route)):
        st.warning(
            t(
                "Chosen above is vllm-ascend {release} by {route}, but the bundle is of {version} by {way}. Choose "
                "that above, or build a bundle of what is chosen.",
                release=stack.release.vllm_ascend,
                route=str(stack.route),
                version=order.vllm_ascend,
                way=order.route,
            )
        )


def _findings(folder: Path, findings: list[Finding]) -> None:
    """What is missing comes with the place to drop it; sizes are compared, content only by `pilot bundle verify`."""
    if not findings:
        st.markdown(f"{mark('ok')} {t('Every file is there with its size; its content is verified on the host.')}")
        return
    for one in findings:
        sign = "fail" if one.trouble in (Trouble.MISSING, Trouble.DAMAGED, Trouble.FOREIGN) else "todo"
        st.markdown(f"{mark(sign)} **{_trouble(one.trouble)}** · {marked(one.text)}")
        st.code(str(folder / one.path), language=None)


def _push(host: Host, folder: Path, findings: list[Finding]) -> None:
    hosts = {one.id: one for one in inventory.hosts()}
    chosen = st.multiselect(
        t("Bring it to"),
        list(hosts),
        default=[host.id] if host.id in hosts else [],
        key=f"bundle-hosts-{host.id}",
        format_func=lambda one: words(hosts[one].label),
        placeholder=t("a host"),
    )
    _misfits(folder, [hosts[one] for one in chosen])
    limit = st.number_input(
        t("At most (MB per second, 0 for no limit)"), min_value=0.0, value=0.0, step=10.0, key="bundle-limit"
    )
    broken = [one for one in findings if one.trouble in (Trouble.MISSING, Trouble.DAMAGED)]
    why = ""
    if broken:
        why = t("Files of the bundle are missing or damaged; build it again first.")
    elif not chosen:
        why = t("Choose at least one host.")
    st.button(
        t("Bring it there"),
        key="bundle-push",
        type="primary",
        icon=":material/upload:",
        disabled=bool(why),
        help=why or t("What is there already is not sent again; a cut is continued."),
        on_click=attempt,
        args=(bundling.start, folder, chosen),
        kwargs={"limit_mb": limit or None, "actor": who()},
    )


def _misfits(folder: Path, hosts: list[Host]) -> None:
    """What of the bundle is for another host than those it goes to, as far as they have told."""
    order = manifest.required(folder).order
    for host in hosts:
        for text in bundling.misfits_on(host, order):
            st.warning(f"{words(host.label)} · {marked(text)}", icon=":material/warning:")


def _kind(kind: str) -> str:
    titles = {
        "driver": t("driver"), "firmware": t("firmware"), "cann": "CANN", "wheel": t("Python packages"),
        "image": t("container image"), "weights": t("model weights"),
    }  # fmt: skip
    return titles.get(kind, kind)


def _trouble(trouble: Trouble) -> str:
    return {
        Trouble.MISSING: t("missing"), Trouble.DAMAGED: t("damaged"), Trouble.TO_BRING: t("to bring"),
        Trouble.PARTIAL: t("partial"), Trouble.FOREIGN: t("foreign"), Trouble.UNEXPECTED: t("unexpected"),
    }[trouble]  # fmt: skip
