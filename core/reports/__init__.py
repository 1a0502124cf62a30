"""Reports: the agreement report of a study, leaderboards, rank stability, differences, the overview."""
