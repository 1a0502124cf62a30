"""Tables of labels from anywhere: their columns, what each one is, and the answers in them."""
