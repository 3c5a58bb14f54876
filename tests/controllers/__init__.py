"""The controllers of the friendly mode, each beside a real server in the same process."""
