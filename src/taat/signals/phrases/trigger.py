"""The words without which a post announces nothing."""

import re

TRIGGER = re.compile(
    r"\b(?:bto|stc|sto|btc|b\.t\.o|s\.t\.[co]|buy|buying|bought|bougt|boght|bougth|bght|bot"
    r"|sell|selling|sold|soldd|sld|long|longed"
    r"|longing|short|shorted|shorting|reshort\w*|add|added|aded|adding|trim\w*|scal(?:e|ed"
    r"|ing)|clos(?:e|ed|ing)|clsoed|exit\w*"
    r"|out|flat|cover\w*|cvr\w*|covd|scratch\w*|shav\w+|r[aiu]ng\w*|put|cut|cutting|took|taking|take|takin|stop\w*|stp|sl|s/l|limit|bids?"
    r"|bidding|orders?|offers?|entry"
    r"|enter\w*|re-?ent\w+|in|initiat\w+|start\w*|open\w*|picked|picking|grabb\w+|snagg\w+"
    r"|scoop\w*|nibbl\w+|load\w*|fill\w*"
    r"|position|starter|wrote|writing|avg\w*|averag\w+|dca\w*|doubl\w+|reduc\w+|lighten\w*"
    r"|par(?:ed|ing)|peel\w*|pull\w*|lock\w*"
    r"|book\w*|bank\w*|secur\w+|dump\w*|ditch\w*|bail\w*|unload\w*|kill\w*|liquidat\w+"
    r"|flipp?\w*|revers\w+|jump\w*|hopp\w*|off"
    r"|reload\w*|exit|tp\s?#?\d|targets?|everything|topp\w+|pyramid\w*|got|went|going|paid|paying|built|building|establish\w*"
    r"|runners?|last|final|calls?|puts?"
    r"|let|letting|tagged|hit|snapp\w+|step\w*|knock\w*|closed|half)\b|\d[cp]\b|_\d{6}[cp]"
)
"""Some word without which a post announces nothing: most posts have none and are read no further."""
