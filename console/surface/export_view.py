"""A server as files for elsewhere, to take along; a key stands in them only where somebody asks for it."""

import streamlit as st

from console.errors import ConsoleError
from console.hosts import inventory
from console.hosts.inventory import Host
from console.serving import ascend, deep_link, launch
from console.serving.asked import ServeSpec
from console.serving.backends import Site
from console.serving.exports import Form, export, file_name, forms
from console.serving.instances import Instance
from console.serving.place import runtime_folder
from console.surface.site_view import site_of
from console.surface.ui import attempt, marked, t

MEDIA = {Form.SCRIPT: "text/x-shellscript", Form.SYSTEMD: "text/plain", Form.COMPOSE: "text/yaml",
         Form.KUBERNETES: "text/yaml"}  # fmt: skip


def exports(host: Host, spec: ServeSpec, place: Site, key: str | None = None) -> None:
    """A button for each kind of file; `key` is written into them instead of the place where it belongs."""
    names = {
        Form.SCRIPT: t("Shell script"),
        Form.SYSTEMD: t("systemd unit"),
        Form.COMPOSE: t("Compose file"),
        Form.KUBERNETES: t("Kubernetes manifest"),
    }
    with st.container(horizontal=True, key="exports"):
        for form in forms(spec):
            try:
                text = export(spec, form, runtime_folder(host, spec.backend), key, place)
            except ConsoleError as error:
                st.info(marked(error.text))
                continue
            st.download_button(
                names[form], text, file_name(spec, form), MEDIA[form], key=f"export-{form}", on_click="ignore",
                icon=":material/download:",
            )  # fmt: skip
    if spec.api_key and key is None:
        st.caption(t("The API key is not in these files; a placeholder stands where it belongs."))
    if spec.backend != ascend.DOCKER:
        st.caption(t("A compose file and a Kubernetes manifest are for servers in containers."))


def exports_of(one: Instance) -> None:
    """The files of an instance; its key is in them only while the switch for it is on."""
    key = None
    if one.spec.api_key:
        wanted = st.toggle(
            t("Write the API key into the files"), key=f"export-key-{one.id}",
            help=t("Whoever has the file can then use the server. It is never shown here."),
        )  # fmt: skip
        key = attempt(launch.api_key, one) if wanted else None
    host = inventory.host(one.host_id)
    place, missing = site_of(host, one.spec)
    if missing is not None:
        st.info(marked(missing))
    exports(host, one.spec, place, key)


def settings_link(one: Instance) -> None:
    """To the launch form, filled with the settings of this server but for what only one can have: port and cards."""
    own = {name: word for name, word in deep_link.written(one.spec).items() if name not in ("port", "device-ids")}
    st.page_link(
        "launch.py",
        label=t("Start another one with these settings"),
        icon=":material/tune:",
        query_params={"host": str(one.host_id), **own},
    )
