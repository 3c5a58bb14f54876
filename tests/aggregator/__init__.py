"""The front: API services, the proxy, merged documents, health and the pages for operators."""
