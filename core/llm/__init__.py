"""Language models behind OpenAI-compatible endpoints: models.toml, client, prompts, untrusted replies."""
