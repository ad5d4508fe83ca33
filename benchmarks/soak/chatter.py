"""Invented everyday talk with an assistant: what fills the days after everything that is asked about was said.

None of it answers a question of the evaluation set. Slots are filled at random, so that no two days are alike.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

NAMES = tuple(
    "Abel Birte Cyril Dunja Enno Falk Greta Henk Isolde Jorik Klara Ludo Mette Niels Orla Piet Runa Sten".split()
)
PLACES = tuple("Aarhus Basel Cadiz Delft Evora Faro Girona Hasselt Imola Jena Kiel Leuven Malmo Namur Odense".split())
DISHES = ("leek soup", "mushroom risotto", "lentil curry", "potato salad", "shakshuka", "onion tart", "bean stew")
THINGS = ("desk lamp", "bicycle pump", "raincoat", "kettle", "backpack", "bookshelf", "garden hose", "door mat")
FILMS = ("the lighthouse film", "that heist comedy", "the whale documentary", "the chess series", "the train mystery")
DAYS = tuple("Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split())

TALKS: tuple[tuple[tuple[str, str], ...], ...] = (
    (
        ("What will the weather be like in {place} on {day}?", "Around {n} degrees, dry until the evening."),
        ("Do I need a jacket for a walk at {hour}?", "A light one. It cools down after sunset."),
    ),
    (
        ("How long do I boil {n} eggs so that the yolk stays soft?", "Six minutes from cold water, then rinse them."),
        ("And if they come straight from the fridge?", "Then seven."),
        ("Yes.", "Tell me if you want a timer."),
    ),
    (
        ("Convert {n} miles to kilometres.", "That is {m} kilometres, roughly."),
        ("Thanks.", "You are welcome."),
    ),
    (
        ("Find me a train to {place} on {day} around {hour}.", "There is one at {hour} with a change halfway."),
        ("Is there one without a change?", "Only later in the evening."),
        ("Then the first one is fine.", "Noted. I have not booked anything."),
    ),
    (
        ("Write two lines for {name}'s farewell card.", "All the best for what comes next. We will miss your jokes."),
        ("Shorter.", "Go well, {name}."),
        ("Good.", "Glad it fits."),
    ),
    (
        ("What can I cook with {n} potatoes and some leeks?", "A {dish} would work, or a gratin."),
        ("How long does the gratin take?", "About fifty minutes in the oven."),
    ),
    (
        ("Remind me how to descale a kettle.", "Half vinegar, half water, boil, wait an hour, rinse twice."),
        ("Lemon juice instead?", "That works as well, with a little more patience."),
    ),
    (
        ("Is {film} any good?", "Reviews praise the first half and call the ending slow."),
        ("Who is in it?", "Mostly actors you would not know yet."),
        ("I will watch something else then.", "Shall I suggest three?"),
        ("No, not today.", "All right."),
    ),
    (
        ("How do I get red wine out of a tablecloth?", "Cold water and salt at once, then wash it at forty degrees."),
        ("It is already dry.", "Then soak it in water with a spoon of soda over night."),
    ),
    (
        ("Make a list: {thing}, light bulbs, tape.", "Three things: {thing}, light bulbs, tape."),
        ("Add batteries.", "Four things now."),
        ("Yes.", "The list is ready."),
    ),
    (
        ("What does the word 'zenith' mean?", "The point of the sky straight above you; also a high point."),
        ("And the opposite?", "Nadir."),
    ),
    (
        ("Split a bill of {m} euros by {n}.", "A little over {hour} each, depending on the tip."),
        ("Without a tip.", "Then divide evenly and round up the last share."),
    ),
    (
        (
            "Draft a message to the landlord about the dripping tap.",
            "The tap in the kitchen drips. When can it be mended?",
        ),
        ("Make it more polite.", "Could you please send somebody for the dripping tap? Thank you."),
        ("Send it later.", "I keep it as a draft."),
    ),
    (
        ("What time is it in {place} when it is {hour} here?", "The same, they share our time zone."),
        ("Really?", "Yes."),
    ),
    (
        ("Which {thing} should I get?", "For most people the middle one in price is enough."),
        ("I only use it twice a year.", "Then borrow one."),
        ("Fair point.", "It saves room, too."),
    ),
    (
        ("Give me a riddle for {name}.", "What has hands and cannot clap? A clock."),
        ("Too easy.", "What gets wetter the more it dries? A towel."),
    ),
    (
        ("How many calories are in a bowl of {dish}?", "Between {m} and twice that, depending on the oil."),
        ("Roughly then.", "Take the middle."),
    ),
    (
        ("Plan a walk of {n} kilometres near {place}.", "Along the river out of town and back over the hill."),
        ("Is there a cafe on the way?", "One at the mill, open until {hour}."),
        ("Great.", "Enjoy it."),
    ),
    (
        ("Why is my screen flickering?", "Often the cable. Try another one first."),
        ("It stopped after a restart.", "Then keep an eye on it."),
    ),
    (
        ("Translate 'see you on {day}' into Dutch.", "'Tot {day}' will be understood."),
        ("And into Danish?", "'Vi ses' with the day behind it."),
    ),
    (
        ("How much water does a tomato plant need?", "On hot days two litres, in the morning, not on the leaves."),
        ("It is on a windowsill.", "Then one is plenty."),
        ("Okay.", "Turn it now and then."),
    ),
    (
        ("Suggest a quiz name for {n} people.", "The Unsure Quartet, whatever your number."),
        ("Another?", "Guess and Regret."),
    ),
    (
        ("What is on at the market in {place} on {day}?", "Vegetables, cheese, and a man who sharpens knives."),
        ("Until when?", "Until {hour}."),
    ),
    (
        (
            "Explain compound interest in two sentences.",
            "Interest is added to the sum, and next time it earns interest itself. So it grows faster every year.",
        ),
        ("With numbers.", "A hundred at five percent is 105, then 110.25."),
        ("Got it.", "Good."),
    ),
    (
        ("Set the table for {n} or for {m}?", "You said nothing of guests, so I cannot tell."),
        ("Never mind.", "As you like."),
    ),
    (
        ("Read me the headlines.", "I have no news here, but I can help you to sort what you have read."),
        ("No need.", "Fine."),
    ),
    (
        ("Is the library open on {day}?", "Usually until {hour}; look at their page to be sure."),
        ("I will.", "Bring back {film} if you have it."),
    ),
    (
        ("How do I fold a fitted sheet?", "Put two corners into the other two, lay it flat, fold it in thirds."),
        ("Mine looks like a ball.", "So does everybody's."),
    ),
    (
        ("Count down {n} days from {day}.", "I would do it on the calendar: tell me the date."),
        ("Forget it.", "Done."),
    ),
    (
        ("Which wine goes with {dish}?", "A dry white, not too cold."),
        ("And without alcohol?", "Apple juice with soda."),
        ("Nice.", "Cheers."),
    ),
)


def talk(chance: random.Random, exchanges: int) -> list[tuple[str, str]]:
    """Return a conversation of about this many exchanges, put together from several talks."""
    said: list[tuple[str, str]] = []
    while len(said) < exchanges:
        slots = {
            "name": chance.choice(NAMES),
            "place": chance.choice(PLACES),
            "dish": chance.choice(DISHES),
            "thing": chance.choice(THINGS),
            "film": chance.choice(FILMS),
            "day": chance.choice(DAYS),
            "n": chance.randint(2, 14),
            "m": chance.randint(15, 240),
            "hour": f"{chance.randint(7, 22)}:{chance.choice(('00', '15', '30', '45'))}",
        }
        said += [(asked.format(**slots), answered.format(**slots)) for asked, answered in chance.choice(TALKS)]
    return said


WORLD: Sequence[str] = (
    "The ferry to Texel leaves every thirty minutes.",
    "Copper conducts heat better than steel.",
    "The Kessler museum is closed on Mondays.",
    "The print server runs on Debian.",
    "Invoices are sent from the finance portal.",
    "The Osterfeld bridge is closed for repairs.",
    "The staging cluster is located in Frankfurt.",
    "Basil grows badly below twelve degrees.",
    "The archive room is on the third floor.",
    "The Meridian printer needs A3 paper.",
)
"""Statements about the world that several agents hear from different people."""
