"""Importing hosts on the page: shown first, written after a yes."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from console.hosts import inventory
from console.hosts.host_csv import template
from console.hosts.inventory import Host
from tests.pages.page import calm, opened, press, said


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".ssh").mkdir()
    path = tmp_path / ".ssh" / "config"
    path.write_text("Host gate\n HostName 10.0.0.1\nHost npu-1\n ProxyJump gate\nHost odd\n ProxyCommand nc %h %p\n")
    return path


def names() -> list[str]:
    return [one.name for one in inventory.hosts()]


def with_csv(data: bytes) -> AppTest:
    page = press(opened("hosts"), "import-hosts")
    page.segmented_control(key="import-kind").set_value("csv").run()
    page.file_uploader(key="import-file").set_value([("hosts.csv", data, "text/csv")]).run()
    return calm(page)


def test_an_ssh_config_is_shown_and_then_entered(host: Host, config: Path) -> None:
    page = press(opened("hosts"), "import-hosts")
    shown = said(page)
    assert "2 new, 0 changed, 0 as they are, 1 refused, 0 left out" in shown
    assert "ProxyCommand, which is not run here" in shown
    assert names() == ["local"]
    press(page, "import-now")
    assert names() == ["local", "gate", "npu-1"]
    page = press(opened("hosts"), "import-hosts")
    assert page.button(key="import-now").disabled
    assert "2 as they are" in said(page)


def test_a_host_is_left_out(host: Host, config: Path) -> None:
    page = press(opened("hosts"), "import-hosts")
    page.multiselect(key="import-without").set_value(["gate"]).run()
    press(page, "import-now")
    assert names() == ["local", "npu-1"]


def test_a_file_that_is_not_there(host: Host, config: Path) -> None:
    config.unlink()
    page = press(opened("hosts"), "import-hosts")
    assert "cannot be read" in " ".join(one.value for one in page.error)


def test_a_csv_from_excel_in_china(host: Host, config: Path) -> None:
    page = with_csv("名称;地址;标签\r\n甲;10.0.0.5;机柜1\r\n乙;x y;\r\n".encode("gb18030"))
    press(page, "import-now")
    assert names() == ["local", "甲"]
    assert inventory.named("甲").tags == ("机柜1",)


def test_passwords_are_refused(host: Host, config: Path) -> None:
    page = with_csv(b"name,address,password\na,10.0.0.1,hunter2\n")
    assert "holds passwords" in " ".join(one.value for one in page.error)
    assert "hunter2" not in said(page)


def test_the_template_can_be_imported(host: Host, config: Path) -> None:
    page = with_csv(template("zh"))
    press(page, "import-now")
    assert names() == ["local", "npu-1", "npu-2"]


def test_it_is_closed_without_a_trace(host: Host, config: Path) -> None:
    page = press(opened("hosts"), "import-hosts")
    page = press(page, "import-close")
    assert "2 new" not in said(page)
    assert names() == ["local"]
