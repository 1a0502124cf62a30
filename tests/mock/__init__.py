"""The mock models of the tests and of the demo: personas, and a server that fails in every way known.

Their names begin with `mock-`, and every reply is signed `system_fingerprint: "concord-mock"`, as those of
`concord mock` are.
"""
