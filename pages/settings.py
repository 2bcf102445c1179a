"""Settings: where the data is, which versions run, and what the console keeps."""

import streamlit as st

from console.doctor import examine
from console.surface.ui import mark, marked, port_in, t, title, words

title(t("Settings"), t("What the console is, where it keeps its data, and whether everything it needs is there."))
for line in examine(port_in(st.context.headers.get("host", ""))):
    if line.private:
        continue
    columns = st.columns([1.6, 2.4, 8], vertical_alignment="center")
    columns[0].markdown(mark({"ok": "pass"}.get(line.level, line.level)))
    columns[1].markdown(f"**{words(line.title)}**")
    columns[2].markdown(marked(line.seen))
    if line.fix is not None:
        columns[2].caption(marked(line.fix))
st.caption(t("`pilot doctor` prints the same on a terminal."))
