"""The router: which pages there are, in the order of the user's path."""

from pathlib import Path

import streamlit as st

from console.surface.ui import frame, language, t

ASSETS = Path(__file__).resolve().parent.parent / "assets"

st.set_page_config(page_title=t("Ascend pilot console"), page_icon=str(ASSETS / "favicon.png"), layout="wide")
st.html(ASSETS / "style.css")

page = st.navigation(
    {
        "": [st.Page("home.py", title=t("Home"), icon=":material/home:", default=True)],
        t("Prepare"): [
            st.Page("hosts.py", title=t("Hosts"), icon=":material/dns:"),
            st.Page("checklist.py", title=t("Checklist"), icon=":material/fact_check:"),
            st.Page("install.py", title=t("Install"), icon=":material/download:"),
            st.Page("models.py", title=t("Models"), icon=":material/deployed_code:"),
        ],
        t("Serve"): [
            st.Page("launch.py", title=t("Launch"), icon=":material/rocket_launch:"),
            st.Page("instances.py", title=t("Instances"), icon=":material/memory:"),
            st.Page("playground.py", title=t("Playground"), icon=":material/chat:"),
        ],
        t("Observe"): [
            st.Page("monitor.py", title=t("Monitor"), icon=":material/monitoring:"),
            st.Page("history.py", title=t("History"), icon=":material/history:"),
        ],
        " ": [
            st.Page("settings.py", title=t("Settings"), icon=":material/settings:"),
            st.Page("job.py", title=t("Job"), visibility="hidden"),
            st.Page("instance.py", title=t("Instance"), visibility="hidden"),
            st.Page("fit.py", title=t("Fit"), visibility="hidden"),
        ],
    }
)
with st.container(key="top"):
    st.html("<i></i>")
frame(language())
page.run()
