"""Roles and bindings that every server has: the table data/bootstrap-rbac.json, and how it is restored at start."""
