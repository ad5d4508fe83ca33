"""Reading signals from the text of posts: rules, announcers' profiles, and a model where one is configured."""

from taat.signals.context import find_holding, holdings_after
from taat.signals.json_form import signal_json
from taat.signals.model import read_with_model
from taat.signals.profiles import AnnouncerProfile, Phrase, learn_profile
from taat.signals.reading import read_post
from taat.signals.stream import MOST_HOLDINGS, PostReader, still_open

__all__ = [
    "MOST_HOLDINGS",
    "AnnouncerProfile",
    "Phrase",
    "PostReader",
    "find_holding",
    "holdings_after",
    "learn_profile",
    "read_post",
    "read_with_model",
    "signal_json",
    "still_open",
]
