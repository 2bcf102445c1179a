"""A host without a key: its password is typed on the Hosts page, kept by the worker, and forgotten by a button."""

import pytest
from streamlit.testing.v1 import AppTest

from console.hosts import inventory, secrets
from console.hosts.inventory import Host
from console.hosts.reach import Reach
from console.hosts.secrets import Held
from tests.hosts.conftest import MakeSshd, served, somebody, sshd
from tests.pages.page import calm, keys, opened, press, said

__all__ = ["served", "somebody", "sshd"]
pytestmark = [pytest.mark.e2e, pytest.mark.needs_root, pytest.mark.needs("sshd", "useradd", "openssl")]
WITH_PASSWORD = ("PasswordAuthentication yes", "AuthorizedKeysFile .ssh/authorized_keys")


def send(page: AppTest, words: str) -> AppTest:
    return calm(next(one for one in page.button if one.label == words).click().run())


def test_a_password_is_typed_kept_and_forgotten(host: Host, somebody: str, sshd: MakeSshd, served: Held) -> None:
    server = sshd(*WITH_PASSWORD)
    far = inventory.add_host("gpu1", Reach(server.address, server.port, somebody, agent=False), actor="me")
    page = press(opened("hosts"), f"login-open-{far.id}")
    assert "never on disk" in said(page)
    page.text_input(key=f"login-typed-{far.id}").set_value("wrong words")
    page = send(page, "Log in")
    assert "Log in with a password" in " ".join(one.value for one in page.error)
    page = press(page, f"login-open-{far.id}")
    assert page.text_input(key=f"login-typed-{far.id}").value == ""
    page.text_input(key=f"login-typed-{far.id}").set_value("right words")
    page = send(page, "Log in")
    assert "It answers:" in said(page)
    assert "gone when the worker ends" in said(page)
    assert "right words" not in said(page)
    assert f"login-open-{far.id}" not in keys(page)
    page = press(page, f"login-forget-{far.id}")
    assert served.logins() == []
    assert f"login-open-{far.id}" in keys(page)


def test_a_new_host_keeps_the_password_instead_of_a_key(
    host: Host, somebody: str, sshd: MakeSshd, served: Held
) -> None:
    server = sshd(*WITH_PASSWORD, trust=False)
    page = opened("hosts")
    for part, value in {"name": "gpu1", "address": server.address, "user": somebody, "password": "right words"}.items():
        page.text_input(key=f"new-{part}").set_value(value)
    page.number_input(key="new-port").set_value(server.port)
    for part, ticked in {"agent": False, "keep": True}.items():
        page.checkbox(key=f"new-{part}").set_value(ticked)
    page = send(page, "Save and test")
    entered = inventory.named("gpu1")
    page = press(page, f"accept-{entered.id}")
    assert "It answers:" in said(page)
    assert entered.reach is not None
    assert served.logins() == [secrets.way_of(entered.reach)]
