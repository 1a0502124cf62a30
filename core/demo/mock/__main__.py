"""`python -m core.demo.mock`: `concord mock` as a process of its own."""

from core.commands.mock import command

if __name__ == "__main__":
    command()
