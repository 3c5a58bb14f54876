"""OpenAPI: the v2 and v3 documents of what is served, made from the resource table when somebody asks."""
