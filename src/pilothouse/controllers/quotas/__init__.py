"""Resource quotas: what is used is counted anew whenever something in their namespace goes or changes."""
