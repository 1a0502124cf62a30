"""The demo workspace and the mock models it is built with."""
