"""Tests of the endpoints: what a client asks and gets, apart from what a kind is."""
