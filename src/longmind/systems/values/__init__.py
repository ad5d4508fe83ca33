"""Values: what a program stores under a namespace and a key, and reads back exactly as it was."""

from longmind.systems.values.memory import StateMemory, ValueMemory
from longmind.systems.values.models import Value, ValueHit, ValueName, ValueWrite

__all__ = ["StateMemory", "Value", "ValueHit", "ValueMemory", "ValueName", "ValueWrite"]
