"""How extension servers are trusted, and what we show them: made anew when either changes."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Final

from pilothouse.aggregator.apiservice import APIService, ServiceReference
from pilothouse.serving.dialing import ClientTLS, client_tls, nobody

CHECK_SECONDS: Final = 10.0  # between looks at the certificate files
_log = logging.getLogger(__name__)


class Trust:
    """`certificate`: PEM files (chain, key) that we show to extension servers."""

    def __init__(self, certificate: tuple[Path, Path] | None) -> None:
        self._certificate = certificate
        self._stamp = self._look()

    def _look(self) -> tuple[tuple[int, int], ...]:
        found: list[tuple[int, int]] = []
        for path in self._certificate or ():
            try:
                state = os.stat(path)
            except OSError:
                found.append((0, 0))
            else:
                found.append((state.st_mtime_ns, state.st_ino))
        return tuple(found)

    def changed(self) -> bool:
        """Whether the certificate files are others than at the last look."""
        before, self._stamp = self._stamp, self._look()
        return self._stamp != before

    def of(self, service: APIService, reference: ServiceReference) -> ClientTLS:
        """With trust or certificates that cannot be read nobody is trusted: requests fail, and say why."""
        name = f"{reference.name}.{reference.namespace}.svc"
        try:
            return client_tls(
                name, authorities=service.authorities, careless=service.careless, certificate=self._certificate
            )
        except (OSError, ValueError) as error:
            _log.warning("trust of API service %s: %s", service.name, error)
            return nobody(name)
