"""The generic store that every kind uses, and the definitions it works from."""
