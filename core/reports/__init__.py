"""Reports: the agreement report of a study, leaderboards, rank stability, the overview, and bundles to hand
in.
"""
