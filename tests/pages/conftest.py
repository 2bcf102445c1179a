"""Data folders for the pages: empty, one where much has happened, and one where a job waits for a person."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import app_test

from console import records
from console.hosts import inventory
from console.hosts.inventory import Host
from console.hosts.journal import JOURNAL
from console.settings import settings
from tests.jobs.conftest import data, host
from tests.pages import seed

__all__ = ["data", "host"]


@pytest.fixture(scope="session", autouse=True)
def _scratch_folder() -> Iterator[None]:
    """Streamlit leaves this one to the garbage collector, which complains."""
    yield
    app_test.TMP_DIR.cleanup()


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made once: asking the machine about itself takes a second."""
    folder = tmp_path_factory.mktemp("template") / "data 数据"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PILOT_DATA", str(folder))
        settings.cache_clear()
        records.engine.cache_clear()
        seed.seed(inventory.this_machine())
        JOURNAL.flush()  # else its thread may write there while this is copied
        records.engine().dispose()
    settings.cache_clear()
    records.engine.cache_clear()
    return folder


@pytest.fixture
def seeded(template: Path, data: Path) -> Host:
    """A host where much has happened, all of it just looked at."""
    shutil.copytree(template, data)
    seed.look_now()
    return inventory.this_machine()


@pytest.fixture
def busy(seeded: Host) -> Host:
    """The same, with a job that waits for an answer."""
    seed.waiting(seeded)
    return seeded


@pytest.fixture(params=["data", "seeded", "busy"])
def situation(request: pytest.FixtureRequest) -> str:
    """Each of the three, one after the other."""
    request.getfixturevalue(request.param)
    return str(request.param)


@pytest.fixture(params=["en", "zh"])
def lang(request: pytest.FixtureRequest) -> str:
    return str(request.param)
