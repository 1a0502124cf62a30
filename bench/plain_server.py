"""Serves bench/plain_desk.py as `concord app` serves Concord."""

from __future__ import annotations

from pathlib import Path

from streamlit.starlette import App

app = App(Path(__file__).resolve().parent / "plain_desk.py")
