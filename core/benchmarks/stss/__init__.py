"""STSS: social tasks played out in a small town over two days, scored by what residents do and by what they say."""
