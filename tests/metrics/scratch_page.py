"""A page with nothing but live charts, and a server for it: `python -m tests.metrics.scratch_page SAMPLES PORT`."""

import os
import sys
from pathlib import Path

import streamlit as st

from console.surface.live_chart import LABELS, live_charts, routes


def page() -> None:
    st.set_page_config(layout="wide")
    if st.toggle("charts", value=True):
        labels = {name: str(text) for name, text in LABELS.items()}
        live_charts(1, int(st.query_params.get("minutes", "5")), labels, key="live")


def serve(samples: Path, port: int) -> None:
    os.chdir(Path(__file__).parents[2])  # where .streamlit/config.toml is
    application = st.App(Path(__file__).resolve(), routes=routes(lambda: samples))
    application.run(config={"server.port": port, "server.address": "127.0.0.1", "server.headless": True})


if __name__ == "__main__":
    # Streamlit runs this very file as the page, under the same name and without arguments.
    if st.runtime.exists():
        page()
    else:
        serve(Path(sys.argv[1]), int(sys.argv[2]))
