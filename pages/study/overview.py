"""What this workspace holds, and what to do next."""

import streamlit as st

from pages.parts.session import workspace

st.title("Overview", anchor=False)
st.write(f"The workspace {workspace().path} is open.")
