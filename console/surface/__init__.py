"""The only modules that import streamlit: server, gate, shared widgets and charts."""
