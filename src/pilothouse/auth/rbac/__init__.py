"""Role-based access control: roles and bindings as an index that answers quickly."""
