"""Irregular forms and spellings of English words, so that "went" finds "go" and "colour" finds "color".

The stemmer takes off regular endings and knows no others. The irregular verbs and nouns of English are a closed class
that grammars list. Forms that are as often another word are left out: thought, rose, ground, wound, bound, bore, lives.
Differences between British and American spelling follow a few rules; both are brought to one, whichever it is.
"""

from __future__ import annotations

import re

_VERBS = """
awoke awoken awake|beaten beat|became become|began begun begin|bent bend|bitten bit bite|bled bleed|blew blown blow
broke broken break|bred breed|brought bring|broadcasted broadcast|built build|burnt burn|bought buy|caught catch
chose chosen choose|clung cling|came come|crept creep|dealt deal|dug dig|drew drawn draw|dreamt dream|drank drunk drink
drove driven drive|ate eaten eat|fell fallen fall|fed feed|felt feel|fought fight|found find|fled flee|flew flown fly
forbade forbidden forbid|forgot forgotten forget|forgave forgiven forgive|froze frozen freeze|got gotten get
gave given give|went gone go|grew grown grow|hung hang|heard hear|hid hidden hide|held hold|kept keep|knelt kneel
knew known know|led lead|leapt leap|learnt learn|left leave|lent lend|lit light|lost lose|made make
meant mean|met meet|mistook mistaken mistake|overcame overcome|paid pay|proven prove|rode ridden ride|rang rung ring
risen rise|ran run|said say|saw seen see|sought seek|sold sell|sent send|sewn sew|shook shaken shake|shone shine
shot shoot|shown show|shrank shrunk shrink|sang sung sing|sank sunk sink|sat sit|slept sleep|slid slide
spoke spoken speak|spelt spell|spent spend|spilt spill|spun spin|sprang sprung spring|stood stand|stolen steal
stuck stick|stung sting|struck strike|swore sworn swear|swept sweep|swollen swell|swam swum swim|swung swing
took taken take|taught teach
tore torn tear|told tell|threw thrown throw|undertook undertaken undertake|understood understand
woke woken wake|wore worn wear|woven weave|wept weep|won win|withdrew withdrawn withdraw|wrote written write
"""
_NOUNS = """
children child|men man|women woman|feet foot|teeth tooth|geese goose|mice mouse|oxen ox|knives knife|wives wife
wolves wolf|shelves shelf|loaves loaf|thieves thief|scarves scarf
selves self|elves elf|criteria criterion|phenomena phenomenon|analyses analysis|diagnoses diagnosis|crises crisis
hypotheses hypothesis|theses thesis|fungi fungus|cacti cactus|alumni alumnus|nuclei nucleus
"""
_SPELLINGS = """
grey gray|programme program|programmes programs|tyre tire|tyres tires|pyjamas pajamas|aeroplane airplane
aeroplanes airplanes|kerb curb|moustache mustache|sceptical skeptical|sceptic skeptic|doughnut donut|doughnuts donuts
yoghurt yogurt|yoghurts yogurts|plough plow|aluminium aluminum|manoeuvre maneuver|jewellery jewelry|cosy cozy
fulfil fulfill|enrol enroll|skilful skillful|instalment installment|instalments installments|mum mom|mums moms
mummy mommy|defence defense|offence offense|licence license|pretence pretense|practise practice|practised practiced
practising practicing|judgement judgment|ageing aging|whisky whiskey|storey story|storeys stories|speciality specialty
"""


def _pairs(table: str) -> dict[str, str]:
    """Return a table of groups, each of words followed by the one that they are forms of."""
    groups = (group.split() for group in table.replace("\n", "|").split("|"))
    return {form: base for *forms, base in (group for group in groups if group) for form in forms}


_FORMS = _pairs(_VERBS) | _pairs(_NOUNS) | _pairs(_SPELLINGS)
_OUR = re.compile(
    r"^((?:dis|mis|un|multi)?(?:arm|behavi|cand|clam|col|endeav|fav|ferv|flav|glam|harb|hon|hum|lab|neighb|od|parl|ranc"
    r"|rig|rum|savi|sav|splend|tum|val|vap|vig))our"
)
_RE = re.compile(r"^((?:kilo|centi|milli)?met|lit|cent|theat|fib|calib|lust|somb|spect|meag)re(s?)$")
_OGUE = re.compile(r"^(anal|catal|dial|monol|prol)ogue")
_IZE = re.compile(r"(?<=\w{3}[iy])z(?=(?:e|ed|es|er|ers|ing|ation|ations)$)")
_DIGRAPH = re.compile(r"^(orthop|encyclop|p|gyn|h|an|leuk)ae(?=d|c|m|sth)|^(f|diarrh)oe(?=t|a)")


def base_form(word: str) -> str:
    """Return the word that a folded word is an irregular form or another spelling of; most are neither."""
    known = _FORMS.get(word)
    if known is not None:
        return known
    if len(word) < 5 or not word.isascii():
        return word
    if "our" in word:
        return _OUR.sub(r"\1or", word)
    if "z" in word:
        return _IZE.sub("s", word)
    if word.endswith(("re", "res")):
        return _RE.sub(r"\1er\2", word)
    if "ogue" in word:
        return _OGUE.sub(r"\1og", word)
    if "ae" in word or "oe" in word:
        return _DIGRAPH.sub(lambda match: f"{match[1] or match[2]}e", word)
    return word
