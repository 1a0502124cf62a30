"""The benchmarks that ship: a folder each, a slice, which nothing general imports by name."""
