"""What the server says of itself in its own store: whom it trusts, that it is there, since when it tracks tokens."""
