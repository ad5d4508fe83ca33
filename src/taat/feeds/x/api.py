"""What is asked of X: accounts, timelines, the rules of the stream. Limits are obeyed, and failures tried again."""

import logging
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import requests
import tweepy

from longmind import Forbidden, InvalidInput, InvalidSetting, LongmindError, NotFound
from taat.feeds.x.connection import PLACEHOLDER, TOKEN, Session, in_thread
from taat.feeds.x.posts import FIELDS

log = logging.getLogger(__name__)
Sleep = Callable[[float], Awaitable[object]]
TAG = "taat"
"""What marks the rules of the stream that are ours."""
_PAGE = 100
_LONGEST_RULE = 512
_LONGEST_WAIT = 24 * 3600.0


class Waits:
    """How long to wait before each further attempt: twice as long each time, up to a bound."""

    def __init__(self, first: float, longest: float) -> None:
        self._first, self._longest = first, longest
        self._next = first

    def next(self) -> float:
        wait, self._next = self._next, min(2 * self._next, self._longest)
        return wait

    def start_again(self) -> None:
        self._next = self._first


def until(reset: int | None, otherwise: float) -> float:
    """Return the seconds until a limit ends, or another number when X did not say when."""
    return min(max(reset - time.time() + 1, 1.0), _LONGEST_WAIT) if reset is not None else otherwise


def refusal(status: int, what: str) -> LongmindError:
    """Return the error for an answer that will be the same however often it is asked for."""
    if status == 401:
        return InvalidSetting(f"X refuses the bearer token ({what}).", hint=f"Put a valid one into {TOKEN}.")
    if status == 403:
        return Forbidden(
            f"X does not allow {what} with this bearer token.",
            hint="Look up what your access level includes; x-poll:ACCOUNTS needs no stream.",
        )
    return InvalidInput(f"X answers {what} with HTTP {status}.", hint="Check the names of the accounts.")


class XApi:
    """The requests, each tried until X answers it or refuses it for good."""

    def __init__(self, session: Session, sleep: Sleep) -> None:
        self._client = tweepy.Client(PLACEHOLDER, return_type=dict)
        self._rules = tweepy.StreamingClient(PLACEHOLDER, return_type=dict)
        self._client.session = self._rules.session = session
        self._sleep = sleep

    async def accounts(self, names: list[str]) -> dict[str, str]:
        """Return the names of accounts, as X writes them, by their ids."""
        answer = await self._asked("the accounts", partial(self._client.get_users, usernames=names))
        users = {str(user["id"]): str(user["username"]) for user in answer.get("data") or ()}
        known = {name.lower() for name in users.values()}
        if absent := [name for name in names if name.lower() not in known]:
            raise NotFound(
                f"X has no account {', '.join(absent)}.", hint="Check the name, and whether it is suspended."
            )
        return users

    async def timeline(self, account: str, since: int | None) -> list[dict[str, Any]]:
        """Return the posts of an account after an id, or the latest page; no retweets, in no order."""
        posts: list[dict[str, Any]] = []
        options: dict[str, Any] = {"max_results": _PAGE, "exclude": ["retweets"], "tweet_fields": FIELDS}
        if since is not None:
            options["since_id"] = since
        while True:
            answer = await self._asked("a timeline", partial(self._client.get_users_tweets, account, **options))
            for problem in answer.get("errors") or ():
                log.warning("The timeline of account %s: %s", account, problem.get("detail") or problem.get("title"))
            posts += answer.get("data") or ()
            following = (answer.get("meta") or {}).get("next_token")
            if following is None or since is None:
                return posts
            options["pagination_token"] = following

    async def set_rules(self, names: list[str]) -> None:
        """Let the stream bring the posts of these accounts; rules that others made stay as they are."""
        wanted = _rules(names)
        answer = await self._asked("the rules of the stream", self._rules.get_rules)
        ours = {rule["value"]: rule["id"] for rule in answer.get("data") or () if rule.get("tag") == TAG}
        if old := [number for value, number in ours.items() if value not in wanted]:
            await self._asked("the rules of the stream", partial(self._rules.delete_rules, old))
        if new := [tweepy.StreamRule(value, TAG) for value in wanted if value not in ours]:
            answer = await self._asked("the rules of the stream", partial(self._rules.add_rules, new))
            for problem in answer.get("errors") or ():
                if problem.get("title") != "DuplicateRule":
                    raise InvalidInput(
                        f"X does not take a rule for the stream: {problem.get('title')}.",
                        hint="Follow fewer accounts, or delete rules that you no longer use.",
                    )

    async def _asked(self, what: str, request: Callable[[], Any]) -> dict[str, Any]:
        limited, failed = Waits(60, 900), Waits(1, 64)
        while True:
            refused: int | None = None
            wait, why = 0.0, ""
            try:
                answer: dict[str, Any] = await in_thread(request)
                return answer
            except tweepy.TooManyRequests as error:
                wait, why = until(error.reset_time, limited.next()), "the limit of requests is reached"
            except tweepy.TwitterServerError as error:
                wait, why = failed.next(), f"HTTP {error.response.status_code}"
            except tweepy.HTTPException as error:
                refused = error.response.status_code
            except requests.RequestException as error:
                wait, why = failed.next(), type(error).__name__
            # outside of the handlers, so that no error of the libraries hangs on ours
            if refused is not None:
                raise refusal(refused, what)
            log.warning("X does not answer %s (%s); asked again in %.0f s.", what, why, wait)
            await self._sleep(wait)


def _rules(names: list[str]) -> list[str]:
    """Return rules for the posts of accounts, as few as their greatest length allows."""
    rules: list[str] = []
    group: list[str] = []
    for name in sorted(names, key=str.lower):
        if group and len(_rule([*group, name])) > _LONGEST_RULE:
            rules.append(_rule(group))
            group = []
        group.append(name)
    return [*rules, _rule(group)]


def _rule(names: list[str]) -> str:
    return f"({' OR '.join(f'from:{name.lower()}' for name in names)}) -is:retweet"
