"""The host that was chosen on one page is the host of the next one."""

import pytest
from streamlit.testing.v1 import AppTest

from console.hosts import inventory
from console.hosts.inventory import Host
from console.hosts.reach import Reach
from tests.pages.page import calm, opened


def then(page: AppTest, name: str, **address: object) -> AppTest:
    """Another page in the same session, as from the sidebar: nothing but `address` in the address line."""
    page.query_params.clear()
    for parameter, value in address.items():
        page.query_params[parameter] = str(value)
    page.switch_page(f"{name}.py")
    return calm(page.run())


@pytest.fixture
def far(host: Host) -> Host:
    return inventory.add_host("gpu1", Reach("10.0.0.5"), actor="me")


def test_the_sidebar_keeps_the_host(host: Host, far: Host) -> None:
    page = opened("checklist", host=far.id)
    assert then(page, "install").selectbox(key="chosen-host").value == far.id
    assert "gpu1" in then(page, "home").title[0].value
    assert then(page, "checklist").selectbox(key="chosen-host").value == far.id


def test_the_address_leads_and_is_kept_in_turn(host: Host, far: Host) -> None:
    page = opened("home", host=far.id)
    assert then(page, "checklist", host=host.id).selectbox(key="chosen-host").value == host.id
    assert then(page, "install").selectbox(key="chosen-host").value == host.id


def test_a_removed_host_gives_way(host: Host, far: Host) -> None:
    page = opened("checklist", host=far.id)
    other = inventory.add_host("gpu2", Reach("10.0.0.6"), actor="me")
    inventory.remove_host(far.id, actor="me")
    assert then(page, "install").selectbox(key="chosen-host").value == host.id
    assert then(page, "install", host=other.id).selectbox(key="chosen-host").value == other.id
