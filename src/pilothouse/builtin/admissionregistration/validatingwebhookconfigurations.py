"""Validating webhook configurations: who is asked about requests."""

from __future__ import annotations

from typing import Final

from pilothouse.builtin.admissionregistration.webhooks import configuration
from pilothouse.registry.behaviour import Behaviour

behaviour: Final[Behaviour] = configuration(mutating=False)
