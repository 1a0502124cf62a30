"""Reports: the agreement report of a study, leaderboards, the overview."""
