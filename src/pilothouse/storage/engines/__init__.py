"""The databases that can lie below: each offers the `Engine` protocol and knows nothing of objects."""
