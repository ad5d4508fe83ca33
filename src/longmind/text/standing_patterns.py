"""Patterns of the English language by which statements that matter in every context are recognised."""

from __future__ import annotations

import re

from longmind.text import standing_words as lists

PASTED = re.compile(r"```.*?(?:```|\Z)|^\s*>.*$", re.DOTALL | re.MULTILINE)
QUOTED = re.compile(r"[\"“„«][^\"“”„«»]{12,}[\"”»]")
WORK_ON = re.compile(
    r"^\W*(?:(?:please|can you|could you|would you|hey|ok|now|and|help me)\W+)*(?:summari[sz]e|translate|"
    r"proofread|rewrite|"
    r"rephrase|paraphrase|correct|shorten|turn|check|improve|edit|fix|review|analy[sz]e|classify|sort|here(?:'s|"
    r" is| are)|"
    r"the (?:text|sign|character|article|letter|email|page|review))\b[^:\n]{0,80}:",
    re.IGNORECASE,
)
"""The beginning of a request to do something with the text after the colon, which need not be the user's own."""
TOKEN = re.compile(r"[a-z0-9&]+(?:[-'][a-z0-9]+)*(?:/[a-z]+)*")
CONTRACTED = {
    "im": "i'm",
    "ive": "i've",
    "id": "i'd",
    "dont": "don't",
    "doesnt": "doesn't",
    "didnt": "didn't",
    "cant": "can't",
    "couldnt": "couldn't",
    "wont": "won't",
    "isnt": "isn't",
    "arent": "aren't",
    "shouldnt": "shouldn't",
    "pls": "please",
    "plz": "please",
}
UNABLE = re.compile(
    r"\b(?:can't|cannot|couldn't|can no longer|can not|unable|not able|not allowed|not supposed|not meant|"
    r"mustn't|must not|"
    r"shouldn't|should not|don't|do not|doesn't|does not|never|no longer|have to avoid|has to avoid|"
    r"need to avoid|avoid|"
    r"avoids|stay away|stays away|stopped|quit|gave up|off limits|forbidden|without)\b"
)
AFFECTS = re.compile(
    r"\b(?:gives?|gave|makes?|made|sends?|sent|puts?|leaves?|kills?|killed|wrecks?|ruins?|triggers?|sets?|does|"
    r"did|knocks?|"
    r"lands?|landed|turns?) (?:me|my|her|him|us|our)\b|\band (?:i'm|i am|i|i'll|my|she|he|her|his)\b"
)
"""What something does to a person: "it gives me", or "a bite of it and I'm"."""
ASKS = re.compile(
    r"^\W*(?:(?:so|and|but|ok|okay|hey|um|well|btw|also) )*(?:how|what|what's|whats|when|where|where's|who|"
    r"who's|why|which|whose|"
    r"(?:is|are|does|did|can|could|would|was|were|has|have|should|will|do) "
    r"(?:a|an|the|it|there|this|that|these|those|you|i|we|they|he|she|people|anyone|someone|my|your|our|any|all|"
    r"some)\b)"
)
"""The beginning of a question, with or without its mark."""
SAYS = re.compile(r"\b(?:says?|said|saying|told|tells|thinks?|thought|claims?|claimed|wrote|writes|read|sends?)\b")
ABSTAINS = re.compile(
    r"\b(?:can't|cannot|can not|mustn't|must not|shouldn't|couldn't|not allowed to|not supposed to) (?:even |"
    r"really )?"
    r"(?:have|be near|be around|go near|go)\b|\b(?:don't|doesn't|do not|does not|never) (?:really |even )?(?:do|"
    r"touch)\b"
)
NO_FOOD = re.compile(r"\b(?:no|not|without|anything with|everything with|from)\b")
NAMED = re.compile(
    r"\bmy (?:\w+ )?name(?:'s| is)\b|\b(?:everyone|everybody|people|friends|folks|they|most|"
    r"all) (?:just )?calls? me\b|"
    r"\b(?:call|address|addressed) me\b|\bi go by\b|\bgoes by\b|\bi'?m known as\b|\bmy nickname\b"
)
CALLED = re.compile(r"\b(?:I'm|I am|Im|This is|this is) (?!I\b)[A-Z][a-z]+(?=[.,!]|$| and\b| here\b)")
INTRODUCED = re.compile(r"\b(?:I'm|I am|Im|This is|this is) (?!I\b)[A-Z][a-z]")
"""What the pattern above begins with, whatever follows."""
PRONOUNS = re.compile(r"\b(?:they/them|she/her|he/him|she/they|he/they|xe/xem|ze/hir|it/its)\b|\bpronouns?\b")
LIVES = re.compile(
    r"\b(?:i|we)(?:'m|'re| am| are|'ve| have)? (?:just |now |finally |originally |currently )?"
    r"(?:live|living|based|from|moved|moving|relocated|settled|grew up|was born|were born|staying|in (?:a|the|"
    r"our) \w+ in)\b"
    r"(?! (?:on|it|forward|past|here with)\b)"
)
WORKS = re.compile(
    r"\b(?:i|we)(?:'m|'ve been| am)? (?:now |also |still |just )?(?:work|working|teach|teaching|study|studying|"
    r"run|own|manage|"
    r"freelance|retired|train|drive for|started (?:as|at)|hired)\b(?! (?:out|on it|away|late|into|through|this|"
    r"that|it|out of)\b)"
    r"|\bfor a living\b|\bby trade\b|\bby profession\b|\bself-employed\b|\bi'?m retired\b"
)
IS_A = re.compile(
    r"\b(?:i'm|i am|we're|we are) an? (?!bit|little|lot|huge|big|fan|mess|wreck|bad|good|great|fool|idiot|"
    r"genius|sucker|few|"
    r"total|complete|terrible|horrible|sort|kind|result|rule|whole|gift|start|present|child|kid|member|"
    r"guest|first)"
    r"(?:[\w-]+ ){0,2}[\w-]+"
)
AGE = re.compile(
    r"\bi(?:'m| am| turn| turned|'ll be)(?: turning)? (?:\d{1,2}|1\d\d)\b(?! (?:min|hour|percent|%|km|m\b|"
    r"weeks))|\byears? old\b|"
    r"\bmy (?:\w+ )?birthday is\b"
)
KIN_DETAIL = re.compile(
    r"\b(?:is|'s|are|has|have|was|lives|works|turns|called|named|born|since|\d+|one|two|three|four|five|six|"
    r"seven|eight|"
    r"nine|ten|eleven|twelve)\b"
)
LANGUAGE = re.compile(
    r"\b(?:native|first|mother|my|speaks?|speaking|learn|learning|understands?|fluent|reads?|writes?) (?:\w+ ){0,3}"
)
HABIT = re.compile(r"(?:^|[,;:(] ?|\bthat |\bbut |\band |\bso )(?:i|we) ([a-z-]+)\b")
TELLS = re.compile(
    r"\b(?:nobody|no one|no-one|nothing|none of|not even|not for|not to be|never|you don't|you do not|stays?|"
    r"without me|"
    r"(?:^|[,;:] ?|please |just |so |and )(?:don't|do not)|mustn't|must not)\b.{0,60}\b(?:tell|telling|know|"
    r"knows|share|sharing|"
    r"shared|mention|reveal|disclose|publish|published|post|posted|forward|give|gives|pass on|read|reads|gets|"
    r"see|sees|hear|"
    r"hears|find out|finds out|internet|online|public|social media|leaves|leak|out)\b"
)
YOU_MUST = re.compile(
    r"\byou (?:must|should|shall|need|needn't|have to|don't|do not|mustn't|can't|may not|never|always|are not|"
    r"aren't|will not)\b|"
    r"\bfrom you\b|\bwith you\b"
)
CLAUSE = re.compile(r"[,;:()–—]| - |\b(?:but|so|then|also|just|btw|ok|okay|one thing|please)\b")
SELF_HARM = re.compile(r"\b(?:hurt|harm|kill|cut)(?:ing)? (?:my|him|her|them)sel(?:f|ves)\b")
ENDED = re.compile("|".join(rf"\b{re.escape(phrase)}\b" for phrase in lists.ENDINGS))
LEANS = re.compile(
    r"^(?:so |and |but |also )?(?:it|that|this|these|those|he|she|they|his|her|their|then|there|one)\b", re.I
)
DOCTOR_SAYS = re.compile(
    r"\b(?:doc|doctor|doctors|gp|nurse|midwife|clinic|hospital|physio|therapist|specialist|surgeon|cardiologist|lab) "
    r"(?:\w+ ){0,2}(?:rang|called|phoned|wrote|said|says|told|thinks|wants|wanted|found|changed|put|gave|"
    r"ordered|confirmed)\b"
)
"""A medical matter that concerns the user, who is not named."""
