"""The small controllers of the friendly mode; each is a client of the API."""
