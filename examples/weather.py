"""An API server of one's own: forecasts that clients write, readings that a function makes.

    python examples/weather.py tls.crt tls.key

runs it inside a cluster; an APIService that names its Service puts it behind the API server.
"""

import random
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pilothouse.extension import Extension, in_cluster


@dataclass
class Forecast:
    """What somebody expects."""

    city: str
    degrees: int = field(default=20, metadata={"description": "Celsius"})


async def measure() -> Iterable[dict[str, Any]]:
    return [{"metadata": {"name": city}, "degrees": random.randint(-20, 40)} for city in ("oslo", "rome")]


weather = Extension("weather.example.com", "v1")
weather.stored("Forecast", "forecasts", spec=Forecast, columns={"City": ".spec.city"}, short_names=["fc"])
weather.computed("Reading", "readings", measure, namespaced=False, columns={"Degrees": ".degrees"})

if __name__ == "__main__":
    weather.run(port=8443, certificate=(Path(sys.argv[1]), Path(sys.argv[2])), upstream=in_cluster())
