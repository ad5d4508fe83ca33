"""A simulated help desk: tickets of forty kinds, tools to work on them, and rules that the agent cannot see.

A ticket is solved by looking in the right area and then applying the right fix. Which area and fix a kind of problem
needs is drawn from a seed. Tools fail at random now and then, tickets are worded in several ways, and they mention
things that do not matter. A ticket is closed unsolved after a number of actions.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Literal, get_args

from longmind.systems.procedural import ToolRegistry

Area = Literal["network", "account", "device", "software"]
Fix = Literal[
    "restart", "reset_password", "renew_certificate", "clear_cache", "update_driver", "reinstall", "free_space",
    "replace_cable", "grant_access", "sync_clock", "change_port", "restore_backup",
]  # fmt: skip
AREAS: tuple[str, ...] = get_args(Area)
FIXES: tuple[str, ...] = get_args(Fix)
ACTIONS = 6
"""Actions after which a ticket is closed unsolved."""
NOISE = 0.04
"""The share of calls that fail although they are right."""

PROBLEMS: tuple[tuple[str, str, str], ...] = (
    ("The VPN drops after a minute", "VPN tunnel closes again shortly after connecting", "I get thrown out of the VPN"),
    ("The printer prints blank pages", "Only empty paper comes out of the printer", "Printing gives white sheets"),
    ("My mailbox says it is full", "Mail is refused because the mailbox is full", "No room left in my mailbox"),
    ("The badge does not open the garage", "Garage gate ignores my badge", "My badge is refused at the garage"),
    ("Video calls freeze every few seconds", "The picture stops in video calls", "Video meetings stutter and freeze"),
    (
        "The spreadsheet crashes on opening",
        "The spreadsheet closes itself with our budget",
        "Spreadsheet program crashes",
    ),
    ("The scanner is not found", "My computer cannot see the scanner", "No scanner in the list of devices"),
    ("The payroll site shows a warning", "Browser says payroll is not secure", "Security warning on the payroll page"),
    ("The laptop does not charge", "Laptop stays at three percent on the charger", "Charging the laptop does nothing"),
    ("Two-factor codes are rejected", "The authenticator code is always wrong", "My two-factor code is not accepted"),
    ("The shared drive is read only", "I cannot save to the team drive", "Saving to the shared drive is refused"),
    ("The projector has no signal", "Projector in the meeting room stays dark", "Nothing shows on the projector"),
    ("The wiki is very slow", "Pages of the wiki take a minute", "Loading the wiki takes forever"),
    ("The phone has no dial tone", "My desk phone is silent", "Desk phone is dead when I lift it"),
    ("The backup job failed last night", "Nightly backup did not finish", "Backup report is red this morning"),
    ("The calendar shows wrong times", "Meetings appear an hour early in my calendar", "Calendar is off by one hour"),
    ("The headset microphone is mute", "Nobody hears me through the headset", "My headset microphone picks up nothing"),
    ("The database login fails", "Access denied on the reporting database", "Cannot log in to the report database"),
    ("The monitor flickers", "My second monitor blinks all day", "Monitor flickers every few minutes"),
    ("The invoice export is empty", "Exported invoices contain no lines", "Export of invoices gives an empty file"),
    (
        "The wireless network is missing",
        "No wireless network of the office in the list",
        "Wireless does not appear in the office",
    ),
    ("The keyboard types wrong letters", "Letters are swapped on my keyboard", "Keyboard layout is wrong"),
    ("The chat shows me as offline", "Colleagues see me offline in the chat", "My chat status never turns green"),
    ("The build server is stuck", "Builds wait in the queue for hours", "No build has started since noon"),
    ("The travel form cannot be sent", "Submit button of the travel form is grey", "Travel request will not submit"),
    (
        "The label printer skips labels",
        "Every second label is left out by the printer for labels",
        "Label printer leaves gaps",
    ),
    ("The customer map does not load", "Map of customers stays grey", "The customer map is only a grey box"),
    ("The door display shows old names", "Door displays show last week's names", "The door display is out of date"),
    ("The update asks for an administrator", "Update stops for an admin password", "Updating needs admin rights"),
    ("The web shop returns error 502", "Web shop answers with a bad gateway", "502 in the web shop for all customers"),
    ("The tablet does not rotate", "Tablet screen stays upright", "Rotation of the tablet is broken"),
    ("The fax line is busy", "Fax is engaged the whole day", "Sending a fax always says busy"),
    ("The time clock rejects my card", "I cannot clock in with my card", "Time clock does not know my card"),
    (
        "The forecast report has last year's data",
        "Forecast still shows old figures",
        "Forecast report is a year behind",
    ),
    ("The file search finds nothing", "Searching for files returns no results", "File search is always empty"),
    ("The camera at the gate is dark", "Gate camera shows a black picture", "No picture from the gate camera"),
    ("The signature card is not read", "Card reader ignores my signature card", "Signature fails, card not recognised"),
    ("The language of the portal changed", "Portal suddenly speaks Finnish to me", "Portal is in the wrong language"),
    ("The docking station loses the mouse", "Mouse stops when docked", "On the dock my mouse disappears"),
    ("The newsletter goes to the spam folder", "Our newsletter lands in spam", "Customers find the newsletter in spam"),
)
_OPENINGS = (
    "Hello,",
    "Hi team,",
    "Please help.",
    "Again:",
    "Since this morning:",
    "Urgent.",
    "When you have time:",
    "",
)
_ASIDES = (
    "Room {n}, ask for {name}.", "{name} has the same.", "I need it before {n} o'clock.", "My laptop is number {n}.",
    "It worked on {day}.", "{name} restarted it, no change.", "I am in the {place} office until {day}.", "Thank you!",
)  # fmt: skip
_NAMES = tuple("Ana Ben Cleo Dario Ella Finn Gita Hugo Ines Jo Kai Lena Milo Nora Otto Pia Quin Rosa Sam Tess".split())
_DAYS = tuple("Monday Tuesday Wednesday Thursday Friday".split())
_PLACES = tuple("Lisbon Porto Madrid Lyon Turin Graz Bern Ghent Cork Oslo".split())


class NoEffect(Exception):
    """The call had no effect on this ticket."""


@dataclass(frozen=True, slots=True)
class Ticket:
    """A task: its text and its kind of problem. The agent sees the text only."""

    number: int
    kind: int
    text: str


@dataclass(slots=True)
class HelpDesk:
    """One simulated help desk: its rules, its random numbers, and the open ticket."""

    seed: int
    chance: random.Random = field(init=False)
    rules: list[tuple[str, str]] = field(init=False)
    ticket: Ticket | None = None
    actions: int = 0
    located: bool = False
    """Whether the right area was looked at."""
    solved: bool = False

    def __post_init__(self) -> None:
        self.chance = random.Random(f"desk {self.seed}")
        self.rules = [(self.chance.choice(AREAS), self.chance.choice(FIXES)) for _ in PROBLEMS]

    def tickets(self, count: int, kinds: list[int] | None = None) -> list[Ticket]:
        """Return tickets of all kinds or of ``kinds``, shuffled in rounds so that each kind comes regularly."""
        order: list[int] = []
        while len(order) < count:
            round_ = list(range(len(PROBLEMS)) if kinds is None else kinds)
            self.chance.shuffle(round_)
            order += round_
        return [Ticket(number, kind, self._wording(kind)) for number, kind in enumerate(order[:count])]

    def _wording(self, kind: int) -> str:
        aside = self.chance.choice(_ASIDES).format(
            n=self.chance.randrange(1, 400),
            name=self.chance.choice(_NAMES),
            day=self.chance.choice(_DAYS),
            place=self.chance.choice(_PLACES),
        )
        parts = (self.chance.choice(_OPENINGS), self.chance.choice(PROBLEMS[kind]) + ".", aside)
        return " ".join(part for part in parts if part)

    def take(self, ticket: Ticket) -> None:
        """Begin to work on a ticket."""
        self.ticket, self.actions, self.located, self.solved = ticket, 0, False, False

    def change(self) -> list[int]:
        """Replace a fix that some kinds need by another one, and return these kinds."""
        used = [fix for _, fix in self.rules]
        usual = len(PROBLEMS) / len(FIXES)
        retired = min(sorted(set(used)), key=lambda fix: abs(used.count(fix) - usual))
        replacement = self.chance.choice([fix for fix in FIXES if fix != retired])
        touched = [kind for kind, (_, fix) in enumerate(self.rules) if fix == retired]
        self.rules = [(area, replacement if fix == retired else fix) for area, fix in self.rules]
        return touched

    def tools(self) -> ToolRegistry:
        """Return the tools. A call without effect raises `NoEffect`; a right call may still fail at random."""
        registry = ToolRegistry()

        @registry.tool
        async def diagnose(area: Area) -> str:
            "Look for the cause of the ticket's problem in one place."
            return self._diagnose(area)

        @registry.tool
        async def apply_fix(fix: Fix) -> str:
            "Apply a fix. It works only after the cause was found."
            return self._apply(fix)

        return registry

    def _begin_action(self) -> tuple[str, str]:
        if self.ticket is None:
            raise NoEffect("There is no open ticket.")
        if self.solved:
            raise NoEffect("The ticket is solved already.")
        if self.actions >= ACTIONS:
            raise NoEffect("The ticket was closed: too many actions.")
        self.actions += 1
        if self.chance.random() < NOISE:
            raise TimeoutError("The tool timed out.")
        return self.rules[self.ticket.kind]

    def _diagnose(self, area: str) -> str:
        right_area, _ = self._begin_action()
        if area != right_area:
            raise NoEffect(f"Nothing unusual in {area}.")
        self.located = True
        return f"Found the cause in {area}."

    def _apply(self, fix: str) -> str:
        _, right_fix = self._begin_action()
        if not self.located:
            raise NoEffect("The cause is not known yet; nothing was changed.")
        if fix != right_fix:
            raise NoEffect(f"{fix} changed nothing.")
        self.solved = True
        return "Solved."

    @property
    def closed(self) -> bool:
        """Whether no further action is possible."""
        return self.solved or self.actions >= ACTIONS
