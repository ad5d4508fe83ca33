"""Closed lists of English words by which a statement is judged: verbs, nouns for people and for things, names.

The lists hold common words of the language and well-known names, not those of a data set. A word that is on no list is
judged by its place in the sentence, and in doubt counts as a name.
"""

from __future__ import annotations

from longmind.text.vocabulary import CALENDAR_WORDS, RELATIVES


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_VERBS = _set(
    """accept access act add affect agree aim allow answer appear apply arrive ask attach attract avoid back bake
    become begin behave belong bend bind bite bleed block bloom boil borrow bounce break breathe bring build burn
    bury buy cache call carry catch cause change charge check choose circle clean clear climb close collect combine
    come commit compare compile compress conduct configure confirm connect consist consume contain continue control
    convert cook cool copy correspond cost count cover crack crash create cross cure cut damage decay decide decline
    decrease define degrade delay delete deliver depend deploy describe destroy detect determine differ digest
    disable disappear display dissolve divide document double download drain draw drift drink drive drop dry eat
    emit enable encode encrypt end ensure enter equal erase escalate evaporate exceed exclude exist expand expect
    expire export express extend face fail fall feed fetch fill filter find finish fit fix float flow fly focus fold
    follow force form forward freeze generate get give go grow guarantee hand handle happen harden hatch heal hear
    heat help hide hit hold hunt identify ignore implement import improve include increase indicate infect inform
    inherit insert install interrupt invalidate involve isolate join keep kill know label lack land last lay lead
    leak learn leave lengthen let lie lift light limit link list listen live load lock log look loop lose lower
    maintain make manage map mark match matter mean measure melt merge migrate mix monitor mount move multiply need
    notify obey observe occur offer open operate orbit order output overflow overheat override own park parse pass
    paste pause pay peel perform pin place plant play poll pour power predict prefer prepare press prevent print
    process produce prohibit protect prove provide prune publish pull pump purge push put query queue quit raise
    range reach react read rebuild recalculate receive record recover reduce refer reflect refresh refuse register
    reinstall reject release rely remain remove rename render renew repeat replace reply report represent reproduce
    request require reset resist resolve respond rest restart restore result resume retain retry return reuse reveal
    reverse review rewrite rinse ripen rise roll rotate round run rust sample save scale scan seal search see seem
    select sell send separate serve set shake share shed ship shorten show shrink shut sign simplify sink sit skip
    sleep slow smell soak sort spend split spoil spread sprout stain stand start stay stick stop store stretch strip
    submit suffer suit supply support surround survive suspend swap sweat swell swim switch sync take talk taste
    tell test thaw think throttle throw tie tighten toast touch trace track train transfer translate travel treat
    trigger trim trip turn type unlock unplug update upgrade upload use validate vary verify view visit wait wake
    warm warn wash waste water weaken wear weigh wipe withstand work wrap write yield escape explain soften simmer
    fry grill stir whisk chill season squeeze pat bleach dust mop oil grease sand drill screw glue paint hang level
    vent air compost fertilise fertilize mulch sow harvest weed mow rake die fade glow jam kick lean nest pair ring
    rot shine sting trap vanish wilt hurt spike stall echo wander thin thicken time sharpen preheat reboot archive
    ventilate descale apologise apologize acknowledge announce assign authenticate authorise authorize benchmark
    book calculate calibrate cancel capture classify click compute consult decode defer defrost disconnect disinfect
    dispose downgrade drag edit eject enforce estimate evaluate examine execute extract flush format greet group
    guard initialise initialize inspect invoke issue iterate leash localise localize lubricate marinate mask mention
    minimise minimize mock mute negotiate normalise normalize optimise optimize organise organize outsource patch
    permit postpone prioritise prioritize profile prompt quarantine quote rebase recharge recommend recycle redact
    redirect refactor refill reinforce remind reorder repair reschedule reserve revert revoke scrub secure serialise
    serialize shield snooze solder specify stage sterilise sterilize subscribe substitute subtract summarise
    summarize tag tap terminate thread transform unblock undo unpack unsubscribe unwrap vacuum whitelist withdraw
    zip"""
)


def _third(verb: str) -> str:
    if verb.endswith(("s", "sh", "ch", "x", "z", "o")):
        return verb + "es"
    return verb[:-1] + "ies" if verb.endswith("y") and verb[-2] not in "aeiou" else verb + "s"


BASE_VERBS = _VERBS
"""Verbs in their base form, which a plural subject and an instruction have."""
THIRD_VERBS = frozenset(map(_third, _VERBS))
"""Verbs as a singular subject has them."""
PLURAL_AUXILIARIES = _set("are have do can cannot must should may might will need dont cant wont shouldnt mustnt arent")
SINGULAR_AUXILIARIES = _set("is has does can cannot must should may might will isnt hasnt doesnt cant wont")
PAST = _set(
    """was were had did went got came took gave made said told left lost won bought sold met saw felt thought knew
    began broke spoke wrote drove ate drank slept fell grew became brought caught taught fought found held kept led
    paid sent spent stood wore fired hired died married divorced graduated moved born broken stolen"""
)
PEOPLE_DO = _set(
    """likes like loves love hates hate dislikes dislike prefers prefer enjoys enjoy wants want wishes wish hopes
    hope feels feel lives live works studies study earns earn owes owe speaks speak snores snore drinks smokes smoke
    sings sing believes believe votes vote prays pray adores adore misses miss fears fear remembers remember thinks
    says say tells complains complain worries worry dreams dream dates marries marry owns"""
)
"""Verbs whose subject is a person, or an animal."""
PERSON_PREDICATES = _set(
    """likes dislikes loves hates prefers enjoys wants owns age name birthday wife husband spouse partner girlfriend
    boyfriend friend boss colleague salary job occupation profession employer allergic diet religion hobby lives
    works studies studied speaks plays married divorced born considers plans feels believes interested nationality
    citizen resident native employee student graduate fan nickname email phone address child sibling relative moved
    went did visited bought met attended favorite favourite has_pet pet feeling mood health diagnosis illness"""
)
"""Words of a predicate that say what a person is, does or has."""
PLACE_ROLES = _set("capital headquarters")
"""Roles of a place or an organisation whose value is a place."""
THING_ROLES = PLACE_ROLES | _set(
    """currency population anthem flag timezone climate elevation gdp altitude longitude latitude circumference
    density boiling melting freezing symbol formula licence license protocol schema voltage"""
)
"""Roles that a person does not have, so that what has one is a place, an organisation or a thing. A height, a colour
or a price are none: people have them too."""
OFFICIAL = _set("official national")
"""Words that make a role one of a country: the official language."""
CIRCLE = RELATIVES | _set(
    """fiance fiancee parent parents mum dad mummy daddy granny grandparents grandson granddaughter baby babies
    toddler kid kids child children twin twins boss neighbour neighbor neighbours neighbors colleague colleagues
    coworker coworkers friend friends roommate roommates flatmate landlord landlady buddy bestie ex partner stepson
    stepmother guy guys girl girls boy boys lady gentleman man woman men women person people somebody someone
    anybody intern dentist therapist lover classmate teammate"""
)
"""Words for people in somebody's life."""
ROLES = _set(
    """user users customer customers client clients patient patients employee employees tenant tenants manager
    managers admin administrator student students teacher teachers doctor nurse caller callers applicant applicants
    member members guest guests candidate candidates owner resident passenger driver worker workers staff ceo
    director president secretary lawyer accountant engineer developer author founder mayor chairman"""
)
"""Words for people by what they are to an organisation."""
PRIVATE_THINGS = _set(
    """pill pills passport rent visa mortgage prescription appointment salary diagnosis pregnancy divorce wedding
    birthday anniversary surgery operation therapy will payslip loan debt insulin flat apartment bedroom diary
    locker badge"""
)
"""Things of a private life, when they are definite: "the passport"."""
SECRETS = _set("password passcode passphrase pin secret token login credentials")
SELF = _set("i im ive me my mine myself we weve us our ours ourselves")
OTHERS = _set("he she him her his hers himself herself hes shes")
ADDRESSED = _set("you your yours yourself youre youve youll")
POINTING = _set("it this that these those they there here its theyre thats their them who what")
NOW = _set("today tomorrow tonight yesterday tonite currently nowadays lately recently ago")
DETERMINERS = _set("the a an every each all most some many few no any both several two three four five")
ADVERBS = _set(
    """still only also really never always often usually just too even ever sometimes rarely already soon now then
    almost probably maybe perhaps herself himself again here there"""
)
OPENERS = _set("always never dont do please first then only if when before after to once while until unless whenever")
PREPOSITIONS = _set(
    """of in on at by for from with without to above below under over after before during between within near about
    against per through into since until than as and or , but because if when while which that"""
)
COMMON = _set(
    """water ice coffee tea milk bread rice sugar salt pepper oil butter cheese meat beef pork chicken fish fruit
    honey yeast flour dough sourdough basil garlic parsley mint thyme sage chocolate wine beer vinegar soup pasta
    iron steel copper gold silver lead zinc tin aluminium aluminum oxygen hydrogen nitrogen carbon helium uranium
    plastic glass wood oak pine birch maple bamboo cotton wool silk leather paper concrete cement sand clay stone
    granite marble soil grass wheat corn barley hay light sound heat cold air fire smoke steam fog rain snow wind
    thunder lightning weather frost sunlight gravity energy power electricity fuel petrol diesel gas coal paint glue
    rubber wax soap dust dirt rust blood skin hair bone exercise sport music art history physics
    chemistry biology maths mathematics medicine law money cash credit tax inflation demand supply trade traffic
    transport shipping freight luggage mail post email software hardware code data memory storage cache bandwidth
    latency encryption compression caching logging testing staging production access input output text html css json
    xml yaml csv python java javascript go ruby perl linux unix windows android git docker kubernetes bash wifi
    ethernet internet feedback documentation research evidence furniture equipment machinery clothing food
    space english french german spanish italian portuguese
    chinese japanese latin asphalt aspirin ibuprofen caffeine alcohol nicotine protein fat fibre vitamin insulin
    cholesterol mercury venus mars jupiter saturn uranus neptune earth moon sun amber bronze brass tofu broccoli
    spinach lettuce kale asparagus ginger cinnamon vanilla lava quartz diamond ammonia bleach acid poison mould mold
    moss algae plankton coral krill sulphur sulfur silicon lithium support maintenance deployment release
    authentication authorisation authorization monitoring versioning pagination paging indexing replication sharding
    backup recovery failover rollback"""
)
"""Nouns without an article or a plural that begin a sentence as a name does."""
THING_ENDINGS = ("tion", "sion", "ment", "ness", "ware", "ology", "ism", "graphy", "ing")
PLACES = _set(
    """afghanistan albania algeria andorra angola argentina armenia australia austria azerbaijan bahamas bahrain
    bangladesh barbados belarus belgium belize benin bhutan bolivia botswana brazil brunei bulgaria burkina burundi
    cambodia cameroon canada chile china colombia comoros congo croatia cuba cyprus czechia denmark djibouti
    dominica ecuador egypt eritrea estonia eswatini ethiopia fiji finland france gabon gambia germany ghana greece
    grenada guatemala guinea guyana haiti honduras hungary iceland indonesia iran iraq ireland italy jamaica japan
    kazakhstan kiribati kosovo kuwait kyrgyzstan laos latvia lebanon lesotho liberia libya liechtenstein lithuania
    luxembourg madagascar malawi malaysia maldives mali malta mauritania mauritius mexico micronesia moldova monaco
    mongolia montenegro morocco mozambique myanmar namibia nauru nepal netherlands nicaragua niger nigeria norway
    oman pakistan palau palestine panama papua paraguay peru philippines poland portugal qatar romania russia rwanda
    samoa senegal serbia seychelles singapore slovakia slovenia somalia spain sudan suriname sweden switzerland
    syria taiwan tajikistan tanzania thailand togo tonga tunisia turkey turkmenistan tuvalu uganda ukraine uruguay
    uzbekistan vanuatu venezuela vietnam yemen zambia zimbabwe europe asia africa america americas oceania
    antarctica arctic atlantic pacific mediterranean scandinavia england scotland wales britain usa california texas
    florida alaska hawaii oregon nevada colorado arizona kansas michigan minnesota wisconsin illinois ohio
    pennsylvania massachusetts connecticut vermont maine louisiana tennessee kentucky oklahoma nebraska wyoming
    idaho iowa utah ontario quebec bavaria catalonia andalusia tuscany sicily sardinia corsica crete normandy
    brittany provence siberia patagonia sahara himalayas alps andes pyrenees carpathians danube rhine nile amazon
    ganges mississippi thames everest kilimanjaro accra algiers amsterdam ankara antwerp athens auckland baghdad
    bangkok barcelona basel beijing beirut belgrade berlin bern bogota bologna bordeaux boston brasilia bratislava
    bremen brisbane brussels bucharest budapest cairo calcutta cardiff casablanca chennai chicago cologne copenhagen
    dakar damascus delhi dhaka doha dresden dubai dublin durban edinburgh frankfurt gdansk geneva genoa glasgow
    gothenburg hague hamburg hanoi havana helsinki istanbul jakarta jerusalem johannesburg kabul karachi kathmandu
    kiev kyiv krakow lagos leeds leipzig lisbon liverpool ljubljana london lyon madrid malmo manchester manila
    marseille melbourne miami milan minsk montreal moscow mumbai munich nairobi naples osaka oslo ottawa ouagadougou
    porto prague pretoria quito reykjavik riga riyadh rome rotterdam salzburg santiago sarajevo seattle seoul
    seville shanghai sofia stockholm stuttgart taipei tallinn tehran tokyo toronto toulouse turin valencia vancouver
    venice vienna vilnius warsaw wellington york zagreb zurich mount"""
) - _set("sofia sicily valencia santiago")
"""Places whose names are not usual names of people."""
BRANDS = _set(
    """google amazon microsoft apple facebook meta twitter youtube linkedin netflix spotify samsung sony nokia intel
    nvidia cisco oracle ibm adobe salesforce sap github gitlab bitbucket jira confluence slack teams zoom discord
    whatsapp telegram signal dropbox notion trello asana figma excel word powerpoint outlook chrome firefox safari
    edge windows linux ubuntu debian fedora android kubernetes docker terraform ansible jenkins prometheus grafana
    kafka redis postgres postgresql mysql sqlite mongodb elasticsearch cassandra nginx apache python java javascript
    typescript golang rust ruby perl scala kotlin swift haskell django flask react angular vue node numpy pandas
    pytorch tensorflow git bash powershell bluetooth wifi ethernet azure stripe paypal visa mastercard toyota
    volkswagen bmw audi volvo renault peugeot fiat boeing airbus ikea lego bosch siemens philips canon nikon
    internet wikipedia http https json yaml"""
) - _set("visa")
"""Well-known companies, products and technologies."""
PEOPLES = _set(
    """english french german spanish italian portuguese chinese japanese korean arabic russian polish dutch danish
    swedish norwegian finnish greek turkish hindi bengali urdu persian hebrew latin czech slovak hungarian romanian
    bulgarian ukrainian thai vietnamese malay indonesian swahili american british european african asian australian
    canadian mexican brazilian indian swiss austrian belgian irish scottish welsh celsius fahrenheit kelvin"""
)
"""Languages and adjectives of countries, and units with a capital."""
PLACE_NOUNS = _set(
    """university airport river lake bridge museum bank station valley park hotel tower island islands ocean sea
    mountain mountains inc ltd gmbh corp company institute college railway airlines foundation library protocol
    server database api desert canal gulf bay peninsula forest cathedral palace castle stadium festival prize
    theorem algorithm language framework cluster cloud faso verde kong york zealand arabia korea africa america
    states kingdom republic union council parliament board standard format"""
)
"""Nouns that follow the name of a place, an organisation or a thing."""
CAPITALISED = CALENDAR_WORDS | PLACES | BRANDS | PEOPLES | _set("ok tv pdf api sql id url ui qa vpn usb led dna")
"""Capitalised words that are not names of people."""
