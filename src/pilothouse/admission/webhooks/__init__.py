"""Admission webhooks: servers elsewhere that are asked about writes, and may change or refuse them."""
