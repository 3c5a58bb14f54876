"""Write your own API server behind pilothouse (or kube-apiserver): declare kinds, and everything around them is there.

    weather = Extension("weather.example.com", "v1")
    weather.stored("Forecast", "forecasts", spec=Spec)          # objects that clients write: all verbs, watch, apply
    weather.computed("Reading", "readings", measure)            # objects that a function makes: get, list, watch
    weather.run(port=8443, upstream=in_cluster())

Discovery, OpenAPI, Tables, selectors and watches come with it. Callers are named by the front (their certificate must
be signed by the request header CA), and each request is put to the front's authorizers.
"""

from pilothouse.extension.server import Extension
from pilothouse.extension.upstream import Upstream, in_cluster

__all__ = ["Extension", "Upstream", "in_cluster"]
