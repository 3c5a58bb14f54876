"""The client libraries that Python programs use, used as they are used."""
