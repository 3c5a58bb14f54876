"""The store: keys, bytes and one increasing revision. `api.py` is the whole contract."""
