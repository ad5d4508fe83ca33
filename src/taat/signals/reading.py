"""Reading the signals of a post: pure rules, the same answer for the same post and context."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from taat.models import Action, AssetClass, Holding, Instrument, Level, Post, Quantity, Side, Signal, Span
from taat.signals import detection
from taat.signals.actions import Event
from taat.signals.confidence import LEAST, Evidence, confidence
from taat.signals.context import LEAVING, find_holding
from taat.signals.expiries import trading_day
from taat.signals.fallback import unspoken_entry, unspoken_exit
from taat.signals.fields import Fields, fields_of
from taat.signals.merging import merged
from taat.signals.numbers import NUMBER, number
from taat.signals.profiles import AnnouncerProfile
from taat.signals.scan import Scan, scan
from taat.signals.segments import Segment, clean_events, divide, own_mentions
from taat.signals.symbols import Mention, asset_of
from taat.signals.timeframes import time_frame

_CREDIT = re.compile(r"\b(?:credit|premium|cash[- ]secured|csp|covered calls?|naked|wheel)\b")
_AT_ONCE = re.compile(r"\b(?:here|now|just|today|this morning|alert|filled|entry|entered)\b|🚨")
_LEFT_OPEN = re.compile(
    r"^[^\n]{0,60}?\b(?:leaving|leave|keeping|left|holding|hold|letting|riding)\s+(?:the\s+"
    r"|a\s+|my\s+|last\s+|just\s+)*"
    r"(?:\d+\s+)?(?:runners?|rest|half|some|remaining|balance|contracts?|cons|1/\d)\b"
    r"|^[^\n]{0,60}?\b(?:letting|let)\s+(?:the\s+)?\d+\s+(?:run|ride)\b"
    r"|^[^\n]{0,60}?\b(?:holding|keeping|leaving)\s+(?:the\s+|my\s+|last\s+)*\d[\d,]*(?![\w.%]*\d)"
    r"|^[^\n]{0,60}?(?<![.,\d/])\b\d{1,5}\s+(?:left|remaining|still\s+on)\b"
    r"|^[^\n]{0,60}?\b(?:(?:a|one|\d+)\s+)?runners?\s+(?:left|on|remain\w*|still|open)\b"
)
_RESULT = re.compile(rf"(?<![\w.])(?P<sign>[+-])\s?\$?(?P<points>{NUMBER})(?![\w%]|[.,]\d)")
"""What a trade brought, as a signed number: ``+11``."""
_SOLD = ("sold", "sell", "sld")
_BOUGHT = ("bought", "buy", "bot", "boug", "boght", "bght")


@dataclass(slots=True)
class _Draft:
    """A signal in the making, with what its confidence is made of."""

    signal: Signal
    event: Event
    evidence: Evidence


def read_post(
    post: Post, holdings: Sequence[Holding] = (), profile: AnnouncerProfile | None = None
) -> tuple[Signal, ...]:
    """Return the trades that a post announces, in the order of the text; chatter gives none.

    ``holdings`` is what the author holds before the post: it tells what "closed the rest" and "stop to flat" mean.
    ``profile`` has the author's own vocabulary and habits.
    """
    today = trading_day(post.created_at)
    found = scan(post.text, today, profile)
    if found is None or (profile is not None and profile.is_chatter(found.plain)):
        return ()
    return _Reader(post, today, found, holdings, profile or AnnouncerProfile()).signals()


class _Reader:
    """Reads one post."""

    def __init__(
        self, post: Post, today: date, found: Scan, holdings: Sequence[Holding], profile: AnnouncerProfile
    ) -> None:
        self.post = post
        self.today = today
        self.found = found
        self.holdings = holdings
        self.profile = profile
        self.penalty = detection.post_penalty(found.plain)
        self.time_frame = time_frame(found.plain)
        self.last: Mention | None = None

    def signals(self) -> tuple[Signal, ...]:
        found = self.found
        events = clean_events(found)
        if not any(event.action for event in events):
            unspoken = unspoken_entry(found, self.penalty) or unspoken_exit(found, self.penalty)
            events = [unspoken] if unspoken is not None and not events else []
        if detection.is_listed(len({mention.instrument.symbol for mention in found.mentions}), events):
            return ()
        drafts: list[_Draft] = []
        refused: Event | None = None
        for segment in divide(found.marked, events):
            event = segment.event
            if refused is not None and detection.inherits_refusal(found.marked, event, refused):
                refused = event
                continue
            refused = None
            if event.action is None or self._is_spread(segment):
                continue
            place = (segment.start, segment.end)
            reason = detection.refusal(found.marked, found.plain, event, place, self.post.text)
            if reason is not None:
                refused = event if reason == "what others did" else None
                continue
            drafts += self._drafts(segment)
        read = merged([(draft.signal, draft.event) for draft in drafts if draft.signal.confidence >= LEAST])
        sided = (_with_side_of_others(signal, drafts) for signal in read)
        return tuple(
            signal
            if signal.side is not None
            else signal.model_copy(update={"side": self._usual_side(signal.action, signal.instrument)})
            for signal in sided
        )

    def _is_spread(self, segment: Segment) -> bool:
        options = any(
            segment.start <= mention.start < segment.end and mention.instrument.asset is AssetClass.OPTION
            for mention in self.found.mentions
        )
        return detection.is_spread(self.found.plain[segment.start : segment.end], options)

    def _drafts(self, segment: Segment) -> list[_Draft]:
        mentions = own_mentions(self.found, segment)
        if not mentions:
            draft = self._draft(segment, self._inherited(segment), segment.start, segment.end, own=False)
            return self._everything(segment) if draft is None and _is_all(segment.event) else [draft] if draft else []
        if self._has_other_subject(segment, mentions[0]):
            return []
        drafts: list[_Draft] = []
        for index, mention in enumerate(mentions):
            start = segment.start if index == 0 else mention.start
            end = mentions[index + 1].start if index + 1 < len(mentions) else segment.end
            draft = self._draft(segment, mention, start, end, own=True)
            if draft is not None:
                self.last = self.last if index else mention
                drafts.append(draft)
        return drafts

    def _has_other_subject(self, segment: Segment, mention: Mention) -> bool:
        """Whether a company or fund acts on another: ``ARKK bought $TSLA``."""
        event = segment.event
        return mention.start >= event.end and any(
            segment.start <= other.start
            and other.end <= event.start
            and not self.found.marked[other.end : event.start].strip()
            and other.instrument.symbol != mention.instrument.symbol
            for other in self.found.mentions
        )

    def _everything(self, segment: Segment) -> list[_Draft]:
        """Close all that is held, when a post says so: ``all out``, ``flat``."""
        drafts: list[_Draft] = []
        for holding in self.holdings:
            mention = Mention(segment.event.start, segment.event.start, holding.instrument)
            draft = self._draft(segment, mention, segment.start, segment.end, own=False)
            drafts += [draft] if draft is not None else []
        return drafts

    def _inherited(self, segment: Segment) -> Mention | None:
        """Return the instrument of another part of the post for an action that names none."""
        if self.last is not None:
            return self.last
        different = {mention.instrument for mention in self.found.mentions}
        if len(different) == 1:
            return self.found.mentions[0]
        later = [mention for mention in self.found.mentions if mention.start >= segment.event.start]
        return later[0] if later and not self.holdings else None

    def _draft(self, segment: Segment, mention: Mention | None, start: int, end: int, *, own: bool) -> _Draft | None:
        event = segment.event
        assert event.action is not None
        named = mention.instrument if mention is not None else None
        if named is not None and not named.symbol:
            named = named if self.holdings else None
        side = event.side
        holding, ambiguous = find_holding(self.holdings, named, side if event.action in LEAVING else None)
        if named is None and event.action not in LEAVING and event.action != "add" and len(self.holdings) != 1:
            holding, ambiguous = None, False
        instrument = self._instrument(named, holding, event)
        if instrument is None or not instrument.symbol:
            return None
        fields = fields_of(self.found, event, instrument, start, end)
        action = self._action(event, instrument, fields, holding, segment)
        side = self._side(event, action, instrument, fields, holding)
        if action in LEAVING and named is None and holding is None:
            return None
        evidence = Evidence(
            event=event,
            action=action,
            certainty=mention.certainty if mention is not None and mention.instrument.symbol else 0.9,
            own=own,
            first_person=detection.is_first_person(self.found.marked, event),
            at_once=bool(_AT_ONCE.search(self.found.plain)),
            priced=fields.price is not None,
            both=fields.both,
            guessed=fields.guessed_price,
            levelled=fields.stop is not None or bool(fields.targets),
            sized=fields.quantity is not None,
            option=instrument.asset is AssetClass.OPTION and instrument.strike is not None,
            dated=instrument.expiry is not None,
            held=holding is not None,
            ambiguous=ambiguous,
            sided=(side or self._usual_side(action, instrument)) is not None,
            near=self._is_near(event, mention) if own else False,
            after_symbol=own
            and mention is not None
            and mention.end <= event.start
            and not self.found.marked[mention.end : event.start].strip(" :-"),
            symbol_first=own and mention is not None and mention.end <= event.start,
            has_link=self.found.has_link,
            penalty=self.penalty,
            reply=self.post.text.lstrip().startswith("@"),
        )
        score = confidence(evidence)
        if score < LEAST:
            return None
        stop = fields.stop
        if action == "stop_moved" and stop is not None and stop.unit == "points" and not stop.value and holding:
            stop = Level(value=holding.entry) if holding.entry is not None else stop
        quantity = fields.quantity
        if action == "reduce" and quantity is None and self.profile.scale is not None:
            quantity = Quantity(value=self.profile.scale, unit="fraction")
        signal = Signal(
            instrument=instrument,
            action=action,
            side=side,
            price=fields.price,
            entry_price=fields.entry,
            exit_price=fields.price if fields.both else None,
            quantity=quantity,
            stop=stop,
            targets=fields.targets,
            time_frame=self.time_frame if action in ("open", "add", "limit") else None,
            confidence=score,
            span=self._span(event, mention if own else None, fields),
        )
        return _Draft(signal, event, evidence)

    def _instrument(self, named: Instrument | None, holding: Holding | None, event: Event) -> Instrument | None:
        """Complete the named instrument by what is held."""
        if named is None:
            if holding is not None:
                return holding.instrument
            if self.profile.default_symbol and event.action not in LEAVING:
                symbol = self.profile.default_symbol
                return Instrument(symbol=symbol, asset=self.profile.default_asset or asset_of(symbol))
            return None
        if holding is not None and event.action in LEAVING | {"add"}:
            held = holding.instrument
            incomplete = named.asset is AssetClass.OPTION and (named.strike is None or named.expiry is None)
            if incomplete or not named.symbol or (named.asset is not AssetClass.OPTION and held.symbol == named.symbol):
                return held
        default = self.profile.default_asset
        if default is not None and default is not AssetClass.OPTION and named.asset is not AssetClass.OPTION:
            ambiguous = {named.asset, default} <= {AssetClass.STOCK, AssetClass.FUTURE, AssetClass.INDEX}
            if ambiguous and named.asset is not AssetClass.STOCK:
                return named.model_copy(update={"asset": default})
        return named

    def _action(
        self, event: Event, instrument: Instrument, fields: Fields, holding: Holding | None, segment: Segment
    ) -> Action:
        """Return the action in the light of size, instrument and what is held."""
        action = event.action
        assert action is not None
        part = self.found.plain[segment.start : segment.end]
        if action == "close" and event.phrase.startswith(_SOLD) and not event.whole and holding is None:
            opens = instrument.asset is AssetClass.OPTION and _CREDIT.search(part) and event.form != "code"
            traded_both_ways = instrument.asset in (AssetClass.FOREX, AssetClass.FUTURE, AssetClass.INDEX)
            fields_of_open = fields_of(self.found, _as_open(event), instrument, segment.start, segment.end)
            ordered = event.form == "base" and (traded_both_ways or fields_of_open.targets)
            protected = event.form == "past" and traded_both_ways and fields_of_open.stop is not None
            if opens or ordered or protected:
                event.side = "short"
                fields.price, fields.stop, fields.targets = (
                    fields_of_open.price,
                    fields_of_open.stop,
                    fields_of_open.targets,
                )
                return "open"
        bought = action == "open" and event.form != "code" and event.phrase.startswith(_BOUGHT)
        if bought and holding is not None and holding.side == "short" and holding.instrument.asset is instrument.asset:
            event.side = "short"
            return "close"
        if action == "close" and not event.whole:
            units = fields.quantity.value if fields.quantity and fields.quantity.unit == "units" else None
            fewer = units is not None and holding is not None and holding.units is not None and units < holding.units
            if fields.partial or event.partial or fewer or _LEFT_OPEN.search(self.found.plain[event.end :]):
                return "reduce"
        return action

    def _side(
        self, event: Event, action: Action, instrument: Instrument, fields: Fields, holding: Holding | None
    ) -> Side | None:
        """Return the side, from the words, what is held, or the profit."""
        option = instrument.asset is AssetClass.OPTION
        said = event.side
        if option and event.form == "side" and said == "short" and instrument.right == "put" and action == "open":
            return "long"
        if action in LEAVING | {"add"} and holding is not None and (said is None or event.phrase.startswith(_SOLD)):
            return holding.side
        if said is not None:
            return said
        if fields.both and fields.price is not None and fields.entry is not None and not option:
            gained = event.profit or self._tells_profit(fields.price.middle - fields.entry.middle)
            if gained is not None and fields.price.middle != fields.entry.middle:
                rose = fields.price.middle > fields.entry.middle
                return "long" if rose is gained else "short"
        return None

    def _usual_side(self, action: Action, instrument: Instrument) -> Side | None:
        """Return the side that is meant when nobody says: who shorts stocks or options says so."""
        if self.profile.default_side is not None:
            return self.profile.default_side
        one_way = instrument.asset in (AssetClass.STOCK, AssetClass.CRYPTO, AssetClass.OPTION)
        return "long" if one_way or action in ("open", "add", "limit") else None

    def _tells_profit(self, move: Decimal) -> bool | None:
        """Whether the post says that the trade won; ``None`` when it does not say.

        ``move`` is the way from entry to exit: a signed number as large as that is the result.
        """
        text = self.found.plain
        for match in _RESULT.finditer(text):
            if number(match["points"]) == abs(move):
                return match["sign"] == "+"
        if re.search(
            r"\+\s?\$?\d|\b(?:profits?|gain(?:s|ed)?|winner|win|green|boom|banked|target)\b|[✅💰🎯🔥🚀]", text
        ):
            return True
        if re.search(r"(?<=[\s(])-\s?\$?\d[\d.]*\s*(?:pts|points|%|r\b)|\b(?:loss|loser|lost|red)\b|❌", text):
            return False
        return None

    def _is_near(self, event: Event, mention: Mention | None) -> bool:
        if mention is None:
            return False
        between = (
            self.found.marked[event.end : mention.start]
            if mention.start >= event.end
            else self.found.marked[mention.end : event.start]
        )
        return len(between) < 30 and not re.search(r"[.!?\n]", between)

    def _span(self, event: Event, mention: Mention | None, fields: Fields) -> Span:
        places = [(event.start, event.end), *fields.places]
        if mention is not None:
            places.append((mention.start, mention.end))
        start, end = min(place[0] for place in places), max(place[1] for place in places)
        text = self.post.text
        while start < end and text[start].isspace():
            start += 1
        while end > start and text[end - 1].isspace():
            end -= 1
        return Span(start=start, end=end)


def _with_side_of_others(signal: Signal, drafts: Sequence[_Draft]) -> Signal:
    """Return a signal without a side with that of the same position elsewhere in the post, or of its re-entry."""
    if signal.side is not None or signal.action not in LEAVING:
        return signal
    for draft in drafts:
        same = draft.signal.instrument == signal.instrument and draft.signal.side is not None
        going_on = draft.signal.action in LEAVING or draft.event.phrase.startswith("re")
        if same and (going_on or signal.action == "stop_moved"):
            return signal.model_copy(update={"side": draft.signal.side})
    return signal


def _as_open(event: Event) -> Event:
    return Event(event.start, event.end, "open", "short", event.form, event.phrase)


def _is_all(event: Event) -> bool:
    """Whether an action without a symbol leaves everything: ``all out``, ``flat``, ``closed everything``."""
    return event.action == "close" and bool(re.search(r"\b(?:all|flat|everything)\b", event.phrase))
