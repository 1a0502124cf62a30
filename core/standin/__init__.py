"""Stand-in models: an offline server of the OpenAI protocol, for the demo and the tests.

Nothing in Concord knows that a model is a stand-in: it is an entry in models.toml whose `base_url` points here.
Every stand-in's name begins with `standin-`, and every reply is signed `system_fingerprint: "concord-standin"`.
"""
