"""The Common Expression Language, as rules of custom resources, policies and conditions of webhooks use it.

See docs/designs/cel.md. The face is environment.py; rules of schemas are in rules.py.
"""
