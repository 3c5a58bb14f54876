"""ResourceQuota: what a namespace may hold, counted against the status of its quotas."""
