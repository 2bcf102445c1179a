"""Monitor: how fast a server answers and how busy it is, live."""

import streamlit as st

from console.serving import instances
from console.surface.monitor_view import charts, chosen, measurements
from console.surface.ui import empty, mark, t, title, warn_unknown
from console.surface.way_back import way_back
from console.text import say

title(t("Monitor"))
way_back()
known = [one for one in instances.instances() if one.attempt]
if not known:
    empty(t("No server has run yet, so there is nothing to watch. Start one on Launch."), "launch.py", t("Launch"))
else:
    warn_unknown("instance", {str(one.id) for one in known}, say("a server that has run"))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        one = chosen(known)
        minutes = st.segmented_control(
            t("Window (minutes)"), [5, 15, 60], default=5, key="minutes", required=True, bind="query-params"
        )
        st.markdown(mark(one.state))
    charts(one, minutes or 5)
    st.caption(
        t(
            "From the server's own /metrics, every two seconds; percentiles over the last 15 s. An idle server is "
            "asked for one token a minute, to see that it still works: that shows here too."
        )
    )
    measurements(one)
