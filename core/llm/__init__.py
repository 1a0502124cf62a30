"""Language models behind endpoints of the OpenAI protocol: models.toml, the client, prompts, and replies,
which are untrusted.
"""
