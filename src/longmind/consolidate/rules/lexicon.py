"""Words that tell what a phrase is about: relatives, animals, occupations."""

from __future__ import annotations

import re

from longmind.text.vocabulary import PARENTS, PARTNERS

GOODS = (
    r"(?:cars?|bikes?|bicycle|motorcycle|truck|van|house|apartment|flat|home|job|promotion|raise|"
    r"scholarship|degree|diploma"
    r"|certificate|license|licence|tattoo|phone|laptop|computer|camera|guitar|piano|violin|"
    r"keyboard|console|tickets?|internship"
    r"|books?|gig|contract|deal|role|part|offer|visa|passport|medal|trophy|award|prize|jacket|"
    r"shoes|necklace|ring|watch|dress"
    r"|plants?|garden|sofa|desk|couch|bed|table)"
)
"""Things that one gets and has."""
SINGLE_KIN = frozenset((*PARENTS, *PARTNERS, "partner", "fiancé", "fiancée", "boss", "manager", "landlord", "landlady"))
"""Relatives and others of whom there is one at a time."""
_OCCUPATIONS = (
    "nurse chef cook pilot lawyer attorney judge clerk mechanic plumber carpenter architect accountant journalist "
    "athlete actor actress musician comedian librarian veterinarian physician surgeon dentist therapist counselor "
    "counsellor coach barista vet musician chemist physicist biologist scientist nanny waiter waitress freelancer "
    "entrepreneur student consultant assistant secretary cashier soldier veteran policeman policewoman fireman "
    "firefighter guide guard farmer fisherman sailor tailor butcher monk priest pastor minister mayor intern "
    "apprentice undergrad sophomore freshman"
).split()
JOBS = re.compile(
    r"(?:" + "|".join(_OCCUPATIONS) + r"|(?!(?:number|member|father|mother|brother|sister|daughter|winter|summer|"
    r"matter|letter|water|order|corner|computer|center|monster|sucker|lover|newcomer|believer|beginner|starter|quitter|"
    r"over|ever|never|rather|other|another|better|bigger|paper|offer|user|killer|player|wonder|owner|supporter|reader|"
    r"dreamer|loser|winner|learner|planner|thinker|worrier|goner|stranger|slower|lower|finisher|hoarder|morning|"
    r"follower|viewer|foodie|realist|optimist|pessimist|perfectionist|bookworm|laggard|procrastinator|survivor|"
    r"collector|competitor|creator|mentor|donor|motivator|specialist|finalist|tourist|minimalist|customer|partner)$)"
    r"[a-z]{3,}(?:writer|designer|developer|engineer|teacher|trainer|manager|worker|dancer|singer|painter|baker|driver|"
    r"photographer|programmer|gamer|streamer|editor|director|producer|author|professor|instructor|doctor|inspector|"
    r"operator|artist|scientist|therapist|psychologist|analyst|economist|pianist|guitarist|violinist|novelist|"
    r"journalist|stylist|technician|electrician|musician|politician|officer|keeper|maker|founder|lecturer|researcher)"
    r"|writer|designer|developer|engineer|teacher|trainer|manager|worker|dancer|singer|painter|baker|driver|"
    r"photographer|programmer|gamer|streamer|editor|director|producer|author|professor|instructor|doctor|artist|"
    r"analyst|officer|founder|lecturer|researcher|psychologist|pianist|guitarist|violinist|novelist|electrician|"
    r"technician|politician|screenwriter|filmmaker|blogger|model)"
)
"""A word that ends the name of an occupation."""
PLACES = frozenset(
    " ".join(name.split())
    for name in """
    Afghanistan, Albania, Algeria, Andorra, Angola, Argentina, Armenia, Australia, Austria, Azerbaijan, Bahrain,
    Bangladesh, Belarus, Belgium, Belize, Bolivia, Bosnia, Botswana, Brazil, Bulgaria, Cambodia, Cameroon, Canada,
    Chile, China, Colombia, Congo, Costa Rica, Croatia, Cuba, Cyprus, Czechia, Czech Republic, Denmark, Ecuador,
    Egypt, El Salvador, England, Eritrea, Estonia, Ethiopia, Fiji, Finland, France, Gabon, Gambia, Georgia, Germany,
    Ghana, Greece, Guatemala, Guinea, Guyana, Haiti, Honduras, Hong Kong, Hungary, Iceland, India, Indonesia, Iran,
    Iraq, Ireland, Israel, Italy, Ivory Coast, Jamaica, Japan, Jordan, Kazakhstan, Kenya, Kosovo, Kuwait, Laos,
    Latvia, Lebanon, Liberia, Libya, Lithuania, Luxembourg, Madagascar, Malawi, Malaysia, Mali, Malta, Mexico,
    Moldova, Monaco, Mongolia, Montenegro, Morocco, Mozambique, Myanmar, Namibia, Nepal, Netherlands, New Zealand,
    Nicaragua, Niger, Nigeria, North Macedonia, Norway, Oman, Pakistan, Panama, Paraguay, Peru, Philippines, Poland,
    Portugal, Qatar, Romania, Russia, Rwanda, Saudi Arabia, Scotland, Senegal, Serbia, Singapore, Slovakia,
    Slovenia, Somalia, South Africa, South Korea, Spain, Sri Lanka, Sudan, Sweden, Switzerland, Syria, Taiwan,
    Tanzania, Thailand, Tunisia, Turkey, Uganda, Ukraine, United Arab Emirates, United Kingdom, United States,
    Uruguay, Uzbekistan, Venezuela, Vietnam, Wales, Yemen, Zambia, Zimbabwe, US, USA, UK, UAE, Europe, Asia, Africa,
    America, Alabama, Alaska, Arizona, Arkansas, California, Colorado, Connecticut, Delaware, Florida, Hawaii,
    Idaho, Illinois, Indiana, Iowa, Kansas, Kentucky, Louisiana, Maine, Maryland, Massachusetts, Michigan,
    Minnesota, Mississippi, Missouri, Montana, Nebraska, Nevada, New Hampshire, New Jersey, New Mexico, New York,
    North Carolina, North Dakota, Ohio, Oklahoma, Oregon, Pennsylvania, Rhode Island, South Carolina, South Dakota,
    Tennessee, Texas, Utah, Vermont, Virginia, Washington, West Virginia, Wisconsin, Wyoming, LA, NYC, DC, Ontario,
    Quebec, Alberta, Bavaria, Catalonia, Tuscany, Provence, Amsterdam, Athens, Atlanta, Austin, Bangkok, Barcelona,
    Beijing, Berlin, Bogota, Boston, Brussels, Budapest, Buenos Aires, Cairo, Cape Town, Chicago, Copenhagen,
    Dallas, Delhi, Denver, Dubai, Dublin, Edinburgh, Florence, Geneva, Hamburg, Helsinki, Houston, Istanbul,
    Jakarta, Johannesburg, Kyiv, Lagos, Lima, Lisbon, London, Los Angeles, Lyon, Madrid, Manchester, Manila,
    Melbourne, Miami, Milan, Montreal, Moscow, Mumbai, Munich, Nairobi, Naples, Osaka, Oslo, Paris, Philadelphia,
    Porto, Prague, Reading, Riga, Rio de Janeiro, Rome, San Diego, San Francisco, Santiago, Seattle, Seoul,
    Shanghai, Sofia, Stockholm, Sydney, Taipei, Tallinn, Tehran, Tel Aviv, Tokyo, Toronto, Vancouver, Venice,
    Vienna, Vilnius, Warsaw, Zurich
    """.split(",")
)
"""Countries, states and large cities. Other places are told by what speaks against them (``changes.is_home``)."""
