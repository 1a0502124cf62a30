"""Mock models: an offline server of the OpenAI protocol, for the demo and the tests.

Nothing in Concord knows that a model is a mock: it is an entry in models.toml whose `base_url` points here.
Every mock's name begins with `mock-`, and every reply is signed `system_fingerprint: "concord-mock"`.
"""
