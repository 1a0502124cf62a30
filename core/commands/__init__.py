"""One module a command; each exports `command` and is listed in concord.cli.COMMANDS."""
