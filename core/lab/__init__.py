"""The judge lab: from a judge that is not good enough to a better one, on items that did not choose it."""
