"""The settings of an agent."""

from longmind.config import AgentSettings
from longmind.errors import InvalidSetting
from longmind.operations.faces import AGENT
from longmind.operations.operation import Noun

_configuration = Noun("configuration", AGENT)

OPERATIONS = (
    _configuration.get("/configuration", "configuration", name="configuration.get"),
    _configuration.patch(
        "/configuration",
        "configure",
        permission="admin",
        changes=AgentSettings,
        invalid=InvalidSetting,
        name="configuration.change",
        example={"recall_k": 5},
    ),
)
