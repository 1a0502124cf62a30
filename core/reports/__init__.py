"""Reports: the agreement report of a study, leaderboards, differences, the overview."""
