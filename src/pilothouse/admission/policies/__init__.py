"""Admission policies: rules in CEL that are evaluated here, and nobody elsewhere is asked."""
