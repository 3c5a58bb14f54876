"""The outermost server: APIServices, local or proxied."""
