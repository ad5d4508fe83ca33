"""Word lists by which a sentence is recognised as one that matters in every context.

They are general vocabulary of English, sorted by what the words are about; they are compared as stems. A list is worth
adding to when a common word of its subject is missing, never for the sake of one text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from longmind.text.analysis import stem
from longmind.text.vocabulary import LANGUAGE_NAMES


class Phrases(NamedTuple):
    """Phrases by the words they begin with: a text without any of these words has none of them."""

    first_words: frozenset[str]
    by_first_word: Mapping[str, tuple[str, ...]]


def _phrases(*phrases: str) -> Phrases:
    by_first_word: dict[str, tuple[str, ...]] = {}
    for phrase in phrases:
        first = phrase.split()[0]
        by_first_word[first] = (*by_first_word.get(first, ()), phrase)
    return Phrases(frozenset(by_first_word), by_first_word)


def _stems(words: str) -> frozenset[str]:
    return frozenset(map(stem, words.split()))


# -- who a sentence is about -----------------------------------------------------------------------------------------

SELF = frozenset("i i'm i've i'd i'll me my mine myself we we're we've we'd we'll us our ours ourselves im ive".split())
CLOSE_KIN = _stems(
    "wife husband spouse partner girlfriend boyfriend fiance fiancee son daughter boy girl kid child children "
    "baby toddler newborn twins mum mom mother mama mummy mommy dad father papa daddy parent brother sister "
    "sibling grandmother grandfather grandma grandpa granny gran nan grandson granddaughter grandchild "
    "grandchildren grandkid grandbaby stepson stepdaughter stepmother stepfather family household"
)
KIN = CLOSE_KIN | _stems("niece nephew aunt uncle cousin in-law in-laws relative godson goddaughter")
OTHERS = _stems(
    "colleague coworker co-worker friend buddy neighbour neighbor boss manager landlord landlady tenant "
    "teacher classmate roommate flatmate client customer guest patient guy man woman lady gentleman someone "
    "somebody everyone everybody people person character protagonist hero heroine detective author scientist "
    "researcher expert lawyer intern student visitor vegetarian vegan"
)
"""People of whom a statement tells nothing about the user."""
INVENTED = _stems(
    "novel story fiction character protagonist screenplay roleplay role-play pretend imagine suppose "
    "hypothetical hypothetically dream dreamt dreamed monologue poem limerick joke quiz riddle movie film "
    "lyrics"
)
"""Words that say that a sentence is not about the world."""

# -- health ----------------------------------------------------------------------------------------------------------

CONDITIONS = _stems(
    "allergy allergic allergen intolerance intolerant anaphylaxis anaphylactic hypersensitive asthma "
    "asthmatic diabetes diabetic hypoglycemia insulin epilepsy epileptic seizure migraine coeliac celiac "
    "lactose gluten eczema psoriasis arthritis osteoporosis rheumatism fibromyalgia lupus sclerosis parkinson "
    "alzheimer dementia cancer tumour tumor chemo chemotherapy leukemia hypertension cholesterol thyroid "
    "anaemia anemia anemic anaemic haemophilia hemophilia pacemaker defibrillator stent angina arrhythmia "
    "stroke thrombosis embolism clot warfarin heparin aspirin ibuprofen paracetamol penicillin amoxicillin "
    "antibiotic cortisone steroid statin antidepressant methadone inhaler epipen depression "
    "bipolar schizophrenia anxiety panic phobia claustrophobia claustrophobic adhd autism autistic asperger "
    "dyslexia dyslexic ptsd ocd anorexia bulimia insomnia narcolepsy apnea apnoea pregnant pregnancy "
    "miscarriage breastfeeding menopause disabled disability wheelchair paralysed paralyzed amputated amputee "
    "prosthesis prosthetic deaf deafness blind blindness colour-blind color-blind colourblind colorblind "
    "glaucoma cataract macula macular retina tinnitus dialysis transplant colitis crohn ulcer gastritis "
    "reflux hernia sciatica scoliosis osteoarthritis cartilage slipped ligament hepatitis hiv tuberculosis "
    "malaria chronic disease disorder syndrome illness immunosuppressed sober sobriety "
    "teetotal alcoholic rehab addiction addict addicted recovering overdose"
)
DIETS = _stems(
    "vegan vegetarian pescatarian halal kosher keto paleo dairy-free gluten-free sugar-free meatless ramadan"
)
BODY = _stems(
    "throat lip tongue mouth face skin stomach gut belly bowel chest lung heart eye eyesight vision ear knee "
    "back spine disc hip shoulder elbow wrist ankle neck foot feet leg arm hand finger toe joint muscle nerve "
    "blood bone head brain kidney liver bladder prostate gum teeth tooth jaw calf thigh vein artery hormone "
    "iron sugar glucose pressure"
)
SYMPTOMS = _stems(
    "swell swollen swelling close tighten rash hives itch itchy itching blister faint fainted fainting dizzy "
    "dizziness collapse blackout vomit vomiting nausea nauseous choke choking wheeze wheezing breathe "
    "breathing breathless bleed bleeding cramp bloated diarrhea diarrhoea pain painful hurt hurts ache aching "
    "sore stiff numb numbness burning inflamed infection infected fever fracture broken torn dislocate sprain "
    "limp sick ill reaction react attack spots unconscious"
)
MEDICAL = _stems(
    "adrenaline doctor doc gp physician physio physiotherapist therapist therapy psychiatrist psychologist "
    "nurse midwife "
    "clinic hospital surgeon surgery operation operated specialist cardiologist neurologist oncologist "
    "dermatologist dentist orthopaedist pharmacist pharmacy ambulance ward scan mri x-ray biopsy bloodwork "
    "prescription prescribed prescribe emergency er medical medicine medication meds pill tablet capsule dose "
    "dosage injection inject jab vaccine infusion pump pen spray ointment patch brace crutch splint implant"
)
SEVERE = _stems("faint fainted fainting collapse blackout choke choking unconscious convulsion wheeze wheezing")
SEVERE_PHRASES = _phrases(
    "black out",
    "blacks out",
    "blacked out",
    "pass out",
    "passes out",
    "passed out",
    "can't breathe",
    "stop breathing",
    "stops breathing",
    "struggle to breathe",
)
"""Signs of danger, which count as much as two others."""
MEDICAL_PHRASES = _phrases(
    "throw up",
    "throws up",
    "threw up",
    "emergency room",
    "blood pressure",
    "blood sugar",
    "hearing aid",
    "hearing aids",
    "hearing loss",
    "my hearing",
    "hard of hearing",
    "diagnosed with",
    "was diagnosed",
    "been diagnosed",
    "my diagnosis",
    "the diagnosis",
    "walking stick",
    "weeks along",
)
MOBILITY = _stems("stairs staircase stairway steps cane walker rollator stick ramp railing handrail")
SUBSTANCES = _stems(
    "nut peanut almond cashew walnut hazelnut pecan pistachio sesame tahini soy soya mustard celery lupin "
    "milk cream cheese yoghurt yogurt butter dairy egg fish shellfish seafood prawn shrimp crab lobster "
    "mussel oyster squid meat beef pork pig bacon ham lamb chicken burger steak sausage gelatine gelatin "
    "wheat bread flour pasta rye barley honey sugar salt caffeine coffee alcohol wine beer whisky whiskey "
    "vodka drink drinking smoke smoking cigarette nicotine pollen dust mould mold fur perfume scent fragrance "
    "latex nickel bee wasp sting strawberry kiwi citrus tomato onion garlic mushroom chocolate juice rice "
    "spicy food"
)
ACTIVITIES = _stems(
    "eat drink touch swallow digest tolerate stomach lift run jog walk climb stand sit kneel bend squat jump "
    "swim fly drive ride cycle carry push pull dance ski hike see hear read sleep breathe smoke exercise wear "
    "cook chew taste smell"
)
"""What a body does, or cannot do."""
LASTING = _phrases(
    "since birth",
    "from birth",
    "since i was",
    "since childhood",
    "as long as i can remember",
    "all my life",
    "my whole life",
    "my entire life",
    "in my life",
    "for life",
    "for good",
    "for years",
    "ever since",
    "a day",
    "every day",
    "every morning",
    "every night",
    "every hour",
    "every week",
    "each morning",
    "permanently",
    "anymore",
    "any more",
    "no longer",
    "no more",
    "is over",
    "is gone",
    "never again",
)
PASSING = frozenset("today tonight yesterday tomorrow currently temporarily".split())
"""Words by which a complaint is of the day."""

# -- who the user is -------------------------------------------------------------------------------------------------

WORK = _stems(
    "job boss company firm employer business career profession occupation shift shifts rota office studio "
    "workshop practice clinic lab laboratory class classroom pupil student patient client colleague coworker "
    "staff crew team apprenticeship internship degree thesis phd doctorate postdoc university college school "
    "exam freelance self-employed unemployed retired retirement pension promotion salary licence license"
)
HOME = _stems("house flat apartment home address place street road lane town city village neighbourhood farm room")
MARRIAGE = _stems(
    "married marry wedding engaged engagement divorced divorce separated widow widower widowed single anniversary"
)
FAITHS = _stems(
    "buddhist muslim islam islamic christian catholic protestant orthodox jewish jew hindu sikh atheist "
    "quaker mormon church mosque temple synagogue pray prayer sabbath shabbat religion religious faith"
)
LANGUAGES = _stems(f"{' '.join(LANGUAGE_NAMES)} language tongue")
NOT_HABITS = frozenset(
    """think thought want need like love hate guess hope wish mean know knew feel see hear wonder believe remember
    forget forgot suppose prefer understand agree disagree doubt have had has got get do did does don't didn't
    doesn't am was will would can could should must might may can't couldn't won't wouldn't shouldn't cannot just
    also only already still even never always really actually finally almost nearly probably usually sometimes often
    now then keep kept tried try said say told tell asked ask saw went made found bought came took gave left heard
    read met spent slept ate sold lost broke spilled passed failed dreamt inherited repainted swear promise
    apologise apologize appreciate look looked come go and or both all two three the a an am're haven't hadn't isn't
    ain't used cried moved started stopped""".split()
)
"""Words after "I" or "we" that do not tell of a habit or an occupation in the simple present."""

# -- safety ----------------------------------------------------------------------------------------------------------

DANGERS = _stems(
    "stalk stalker stalking stalked abuse abused abusive abuser harass harassed harassment threaten "
    "threatened threat violent violence assault assaulted suicide suicidal overdose self-harm blackmail "
    "kidnap trafficking"
)
GUARDED = _stems(
    "police court lawyer lawsuit suing sue sued custody weapon gun rifle pistol firearm scam scammer fraud "
    "hacked hacker stolen ex password pin"
)
DANGER_PHRASES = _phrases(
    "court order",
    "restraining order",
    "hurt myself",
    "harm myself",
    "kill myself",
    "end my life",
    "end it all",
    "dark place",
    "dark time",
    "dark times",
    "dark thoughts",
    "dark days",
    "safe word",
    "emergency contact",
    "in case of emergency",
    "witness protection",
)
SECRETS = _stems("secret private privately confidential confidentially confidence privacy anonymous")

# -- standing instructions -------------------------------------------------------------------------------------------

COMMUNICATION = _stems(
    "answer reply response respond sentence word paragraph letter mail email message text note tone language "
    "list bullet format emoji emoticon punctuation jargon abbreviation figure number unit metric source link "
    "citation summary explanation explain write draft spell formal informal polite formally name correct "
    "correction mistake question advice suggestion suggest recommend recommendation remind reminder schedule "
    "plan menu recipe"
)
"""What an assistant's help is made of."""
IMPERATIVES = frozenset(
    """use write speak talk answer reply respond call address treat assume ask put give say make remember remind check
    include add mark cite spell keep leave drop skip avoid stop quit stick start end begin send show tell correct
    translate explain summarise summarize shorten let take count convert double-check confirm wait hold book buy
    order schedule plan suggest recommend mention share forget ignore refer sign round round-up set be don't do
    never always please no""".split()
)
EVERY_TIME = _phrases(
    "always",
    "never",
    "from now on",
    "from here on",
    "from today on",
    "going forward",
    "in future",
    "in the future",
    "for the future",
    "for future",
    "every time",
    "each time",
    "any time",
    "anytime",
    "whenever",
    "no matter",
    "whatever",
    "for good",
    "at all times",
    "as a rule",
    "by default",
    "until further notice",
    "in every",
    "in each",
    "in all",
    "in any",
    "in anything",
    "with anything",
    "for anything",
    "if anything",
    "in everything",
    "rule",
    "house rule",
    "ground rule",
    "under no circumstances",
    "without exception",
    "if you ever",
    "ever again",
    "without asking",
    "ask me first",
    "without me",
    "without my",
)
"""Phrases that make a request a standing one."""
SOMETIMES = _phrases(
    "only",
    "no more",
    "at all",
    "any more",
    "anymore",
    "with me",
    "for me",
    "to me",
    "when you",
    "if you",
    "when i",
    "if i",
    "if we",
    "if somebody",
    "if someone",
    "if anyone",
    "if anybody",
    "in general",
    "generally",
    "even",
    "until",
    "max",
    "at most",
    "maximum",
    "nothing",
    "nobody",
    "things you",
    "what you",
)
"""Phrases that may do so, beside others."""
WISHES = _phrases(
    "i prefer",
    "i'd prefer",
    "i would prefer",
    "i'd rather",
    "i would rather",
    "i want you",
    "i need you",
    "i ask you",
    "i expect you",
    "i'd like you",
    "i would like you",
    "i'd appreciate",
    "i would appreciate",
    "i should be obliged",
    "i'd be grateful",
    "i would be grateful",
    "i want no",
    "i want nothing",
    "i don't want",
    "i do not want",
    "i insist",
    "my wish",
    "it's important to me",
    "keep in mind",
    "bear in mind",
    "i like it when",
    "i hate it when",
    "i hate when",
    "hold me to",
)

PARTICIPLES = frozenset(
    """been had was were went gone seen saw done did got gotten felt thought knew known found made heard took taken came
    gave given said told met ate eaten left lost kept read slept spent won wore worn written wrote understood really
    quite had is has gets""".split()
)
"""Words after "always" or "never" that tell what happens, and ask for nothing; others end in -ed, -ing or -s."""

# -- endings ---------------------------------------------------------------------------------------------------------

ENDINGS = (
    "no longer",
    "not anymore",
    "anymore",
    "any more",
    "used to be",
    "stopped being",
    "gave up",
    "given up",
    "grew out of",
    "outgrew",
    "outgrown",
    "cured",
    "recovered",
    "in remission",
    "turned out not",
    "turns out i'm not",
    "was wrong",
    "false alarm",
    "forget what i said",
    "ignore what i said",
    "never mind what i said",
    "scrap that",
    "you can stop",
    "can eat",
    "can have",
    "allowed again",
    "fine again",
    "okay again",
    "ok again",
    "again now",
    "cleared me",
    "off the",
    "cancelled",
    "canceled",
    "left my",
    "quit my",
    "moved out",
    "moved away",
    "broke up",
    "split up",
    "divorced",
    "is over",
)
"""Phrases of statements that may end what was said before."""
