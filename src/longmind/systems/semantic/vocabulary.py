"""What Longmind takes for granted about common predicates until they are declared otherwise.

Without it the first use of a predicate decides (see ``Predicates``), and "knows" might forget Bob on meeting Carol.
"""

from __future__ import annotations

from longmind.systems.semantic.models import Predicate

_RELATIONS = (
    Predicate(name="is a", many=True, relates=True, transitive=True, inverse="has kind"),
    Predicate(name="part of", many=True, relates=True, transitive=True, inverse="has part"),
    Predicate(name="located in", relates=True, transitive=True, inverse="location of"),
    Predicate(name="lives in", relates=True, inverse="home of"),
    Predicate(name="born in", relates=True, inverse="birthplace of"),
    Predicate(name="works at", relates=True, inverse="employs"),
    Predicate(name="studies at", relates=True, inverse="taught"),
    Predicate(name="member of", many=True, relates=True, inverse="has member"),
    Predicate(name="owns", many=True, relates=True, inverse="owned by"),
    Predicate(name="created", many=True, relates=True, inverse="created by"),
    Predicate(name="parent of", many=True, relates=True, inverse="child of"),
    Predicate(name="manages", many=True, relates=True, inverse="managed by"),
    Predicate(name="uses", many=True, relates=True, inverse="used by"),
    Predicate(name="depends on", many=True, relates=True, transitive=True, inverse="needed by"),
    Predicate(name="causes", many=True, relates=True, inverse="caused by"),
    Predicate(name="knows", many=True, relates=True, symmetric=True),
    Predicate(name="sibling of", many=True, relates=True, symmetric=True, transitive=True),
    Predicate(name="related to", many=True, relates=True, symmetric=True),
)
_VALUES = (
    Predicate(name="likes", many=True),
    Predicate(name="dislikes", many=True),
    Predicate(name="speaks", many=True),
    Predicate(name="allergic to", many=True),
    Predicate(name="interested in", many=True),
)
COMMON = {predicate.name: predicate for predicate in (*_RELATIONS, *_VALUES)}
INVERSES = {predicate.inverse: predicate for predicate in _RELATIONS if predicate.inverse}
