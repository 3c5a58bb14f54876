"""Tests of the filters, one file a filter."""
