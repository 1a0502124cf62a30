"""The demo, played: real runs against the mock models, and simulated people, recorded in data/demo."""
