"""Foreign formats, one module each, in and out; what a file brings is checked whole before any of it is stored."""

# name → one line; each is a subcommand of `concord import`, described in docs/formats.md.
FORMATS: dict[str, str] = {
    "ratings": "Ratings by people and judges in long form (CSV).",
    "conversations": "Conversations, and the study they belong to, as `concord export` writes them (JSON Lines).",
    "fed": "The FED dialogues with their published ratings by people and by a judge.",
    "simulbench-tasks": "SimulBench's published tasks (JSON Lines).",
    "simulbench-scripts": "SimulBench's published scripts (JSON Lines); prints how many there are of each kind.",
    "stss-tasks": "STSS's published tasks (JSON); says what the town lacks for playing them.",
    "pingpong-settings": "Characters and situations from the PingPong authors' settings file (JSON).",
}
