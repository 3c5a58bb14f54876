"""The HTTP edge: requests and answers as plain types, the server that reads sockets, TLS. It knows no API."""
