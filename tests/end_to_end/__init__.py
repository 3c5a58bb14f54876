"""The server as its user meets it: what README and quick start say, step by step."""
