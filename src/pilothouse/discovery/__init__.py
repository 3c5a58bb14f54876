"""Discovery: what the server serves, told in the original's documents."""
