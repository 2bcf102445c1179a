"""Launch beside another server of the host, and for the whole network."""

from streamlit.testing.v1 import AppTest

from console.hosts.inventory import Host
from console.serving import instances
from tests.jobs.npus import make
from tests.pages.page import calm, press
from tests.pages.test_launch_npus import command, form, ready, taken, widget

__all__ = ["make", "ready"]


def test_the_next_server_is_offered_neither_the_card_nor_the_port_of_the_first(ready: Host) -> None:
    press(form(ready), "launch-start")
    (made,) = instances.instances()
    another_beside(made, form(ready))  # its job is still in the queue
    taken(made)
    another_beside(made, form(ready))


def another_beside(made: instances.Instance, page: AppTest) -> None:
    """The form for one more server suggests neither the card nor the port of the first."""
    assert [one.disabled for one in page.checkbox] == [True, False]
    assert "NPU 0 belongs to the instance small" in page.checkbox[0].label
    assert "--device /dev/davinci1" in command(page)
    assert f"127.0.0.1:{made.spec.port}:" not in command(page)
    assert f"127.0.0.1:{made.spec.port + 1}:" in command(page)


def test_who_opens_a_server_to_the_network_asks_for_a_key_too(ready: Host) -> None:
    page = form(ready)
    page = calm(widget(page, "radio", "reach").set_value("0.0.0.0").run())  # type: ignore[attr-defined]
    assert not page.error
    assert "--publish 0.0.0.0:" in command(page)
    assert "--env VLLM_API_KEY" in command(page)
    page = calm(widget(page, "toggle", "key-open").set_value(False).run())  # type: ignore[attr-defined]
    assert "without a key" in page.error[0].value
    assert page.button(key="launch-start").disabled
