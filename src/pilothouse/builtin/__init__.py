"""The built-in kinds: one folder a group, one file a resource, and the tables of facts they are assembled from."""
