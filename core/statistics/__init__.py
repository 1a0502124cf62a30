"""How far people agree with each other, and judges with people: ratings in as a long frame, Estimates out.

`ratings.read_ratings` checks a frame (unit, criterion, rater, kind, score), `study.study_agreement` gives the
figures of every criterion, and the other modules a Table of one criterion each. Items are resampled with
replacement, the same draws for all figures of a call; `intervals` makes 95% intervals of them. People's mean
on an item is over all who are present, a panel's over all its members or not at all.
"""
