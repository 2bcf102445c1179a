"""Settings: where the data is, which versions run, and what the console keeps."""

import streamlit as st

from console.doctor import examine
from console.hosts import inventory, observe
from console.surface.ui import ago, attempt, mark, marked, port_in, t, title, who, words

title(t("Settings"), t("What the console is, where it keeps its data, and whether everything it needs is there."))
lines = examine(port_in(st.context.headers.get("host", "")), look=False)
for line in lines:
    if line.private:
        continue
    columns = st.columns([1.6, 2.4, 8], vertical_alignment="center")
    columns[0].markdown(mark({"ok": "pass"}.get(line.level, line.level)))
    columns[1].markdown(f"**{words(line.title)}**")
    seen = marked(line.seen) if line.looked is None else f"{marked(line.seen)} · {ago(line.looked)}"
    columns[2].markdown(seen)
    if line.fix is not None:
        columns[2].caption(marked(line.fix))
st.button(
    t("Look at vLLM on this machine again")
    if any(line.looked for line in lines)
    else t("Look at vLLM on this machine"),
    key="look-again",
    help=t("Compares every installed package with its list; it takes a second or more."),
    on_click=attempt,
    args=(observe.look_at_runtime, inventory.this_machine()),
    kwargs={"actor": who()},
)
st.caption(t("`pilot doctor` looks at everything anew and prints the same on a terminal."))
