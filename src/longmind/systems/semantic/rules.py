"""Rules: general statements for recall, which can also derive facts if they have premises and a conclusion.

A derived fact is linked ``derived_from`` to its premises and its rule. When one of them changes it becomes stale;
applying the rules again revives it if it still follows. A rule never overrides a stated fact.

A conclusion from a user's fact belongs to that user. So rules are applied for one owner at a time: the scope without a
user uses only what belongs to no user, and a user's scope derives only conclusions that use at least one of the user's
facts or rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from longmind.errors import InvalidInput
from longmind.store.base import Put, Update, Write
from longmind.systems.scoped_store import ScopedStore, retry_on_conflict, validated
from longmind.systems.semantic.concepts import Concepts
from longmind.systems.semantic.facts import Facts
from longmind.systems.semantic.learner import Statement, StatementLearner
from longmind.systems.semantic.models import Fact, Learned, Pattern, Rule, RuleBody
from longmind.systems.semantic.names import fold_name, predicate_name, value_identity
from longmind.systems.semantic.predicates import Predicates
from longmind.systems.semantic.timelines import find_derived, held_at
from longmind.systems.semantic.visibility import find_by_keys, find_writable
from longmind.types import Filter, Memory, Page, Scalar, Source

KIND = "rule"
MAX_BINDINGS = 10_000
"""The most ways in which the premises of one rule may match at once."""
_MAX_ROUNDS = 10


@dataclass(frozen=True, slots=True)
class _BoundValue:
    """The value of a variable: a concept or a plain value."""

    identity: str
    value: Scalar


@dataclass(frozen=True, slots=True)
class _Binding:
    """One way to match some premises: the values of the variables, and the facts that matched."""

    terms: dict[str, _BoundValue]
    premises: tuple[Fact, ...] = ()


class Rules:
    """The rules of a scope."""

    def __init__(
        self, scoped: ScopedStore, concepts: Concepts, predicates: Predicates, facts: Facts, learning: StatementLearner
    ) -> None:
        self._scoped = scoped
        self._concepts = concepts
        self._predicates = predicates
        self._facts = facts
        self._learning = learning

    async def add(self, body: RuleBody) -> Rule:
        """Store a rule, or change the one with this name; a change makes the facts it derived stale."""
        _check(body)
        return await retry_on_conflict(lambda: self._add(body))

    async def page(self, *, limit: int, cursor: str | None) -> Page[Rule]:
        page = await self._scoped.page(KIND, limit=limit, cursor=cursor)
        return Page(items=tuple(map(Rule.of, page.items)), cursor=page.cursor)

    async def apply(self) -> list[Learned]:
        """Derive what follows from what holds now, until nothing new does; return the new and revived facts."""
        learned: list[Learned] = []
        stored = [
            r async for r in self._scoped.store.scan_all(self._scoped.scope, Filter(kinds=(KIND,))) if self._may_use(r)
        ]
        rules = [(Rule.of(r), r.user) for r in stored if r.body.get("then")]
        for _ in range(_MAX_ROUNDS):
            new = [fact for rule, owner in rules for fact in await self._apply(rule, owner)]
            learned += new
            if not new:
                break
        return learned

    async def _add(self, body: RuleBody) -> Rule:
        scoped, key = self._scoped, f"rule:{fold_name(body.name)}"
        value: dict[str, Any] = {"content": body.statement, "body": body.model_dump(mode="json")}
        record = find_writable(scoped.scope.user, await find_by_keys(scoped, [key]))
        if record is None or record.user != scoped.scope.user:
            new = scoped.new(KIND, key=key, **value)
            return Rule.of((await scoped.rewrite([Put(new, existing="fail")], f"rule {body.name}")).memories[0])
        writes: list[Write] = [Update(record.id, value, record.version)]
        if record.body != value["body"]:
            outdated = [r for r in await find_derived(scoped, [record.id]) if r.state == "active"]
            writes += [Update(r.id, {"state": "stale"}, r.version) for r in outdated]
        return Rule.of((await scoped.rewrite(writes, f"rule {body.name}")).memories[0])

    def _may_use(self, record: Memory) -> bool:
        """Whether conclusions of this scope may use a record; those for all users must not use what belongs to one."""
        return record.user in (None, self._scoped.scope.user)

    async def _apply(self, rule: Rule, owner: str | None) -> list[Learned]:
        assert rule.then is not None
        now = self._scoped.now()
        bindings = [_Binding({})]
        for pattern in rule.when:
            constants = await self._constants(pattern)
            facts = await self._matching(pattern, now)
            bindings = _extend_bindings(bindings, pattern, facts, constants)
            if len(bindings) > MAX_BINDINGS:
                raise InvalidInput(
                    f"The premises of the rule {rule.name!r} are met in more than {MAX_BINDINGS} ways.",
                    hint="Make it more specific.",
                )
        learned = []
        here = self._scoped.scope.user
        for binding in bindings:
            if all(whose != here for whose in (owner, *(fact.user for fact in binding.premises))):
                continue  # the scope without a user derives it
            statement = self._conclusion(rule, rule.then, binding)
            if statement is not None and not await self._is_contradicted(statement):
                result = await self._learning.learn(statement)
                learned += [result] if result.operation is not None else []
        return learned

    async def _constants(self, pattern: Pattern) -> dict[str, set[str]]:
        """Return what the pattern's constants may mean: the concepts of that name, and the value itself."""
        fixed: dict[str, set[str]] = {}
        for word in (pattern.subject, pattern.object):
            if _variable(word) is None:
                meant = (await self._concepts.resolve([word])).all(word) if isinstance(word, str) else []
                fixed[str(word)] = {value_identity(word, None), *(f"c:{r.id}" for r in meant)}
        return fixed

    async def _matching(self, pattern: Pattern, now: datetime) -> list[Fact]:
        """Return the facts of a pattern's predicate that hold now and are not stale, read from the pattern's side."""
        use = await self._predicates.find(pattern.predicate)
        if use is None:
            return []
        where = Filter(kinds=("fact",), states=None, metadata={"predicate": use.predicate.name})
        records = [r async for r in self._scoped.store.scan_all(self._scoped.scope, where) if self._may_use(r)]
        facts = [Fact.of(r) for r in held_at(records, now) if r.state != "stale"]
        relation = predicate_name(pattern.predicate)
        turned = [f.turned(relation) for f in facts] if use.swapped or use.predicate.symmetric else []
        return turned if use.swapped else facts + turned

    def _conclusion(self, rule: Rule, then: Pattern, binding: _Binding) -> Statement | None:
        """Return the conclusion for one way to match the premises; None if it would relate a thing to itself."""
        subject, object = (_fill(word, binding) for word in (then.subject, then.object))
        if subject.identity == object.identity:
            return None
        premises = binding.premises
        ends = [fact.valid_to for fact in premises if fact.valid_to is not None]
        starts = [fact.valid_from for fact in premises if fact.valid_from is not None]
        return Statement(
            subject=str(subject.value),
            predicate=then.predicate,
            object=object.value,
            valid_from=max(starts, default=None),
            valid_to=min(ends, default=None),
            confidence=rule.confidence * min((fact.confidence for fact in premises), default=1.0),
            source=Source(role="assistant", name=rule.name),
            derived_from=(*dict.fromkeys(fact.id for fact in premises), rule.id),
            rule=rule.name,
            relating=object.identity.startswith("c:"),
        )

    async def _is_contradicted(self, statement: Statement) -> bool:
        """Whether another value was stated for a single-valued predicate."""
        use = await self._predicates.find(statement.predicate)
        if use is None or use.predicate.many:
            return False
        if use.swapped:
            statement = statement.turned()
        same = {value_identity(statement.object, None), f"c:{statement.object}"}
        known = await self._facts.know(statement.subject, use.predicate.name)
        stated = [fact for fact in known if fact.rule is None]
        return any(not same & {value_identity(f.object, None), value_identity(f.object, f.object_id)} for f in stated)


def _extend_bindings(
    bindings: Iterable[_Binding], pattern: Pattern, facts: Sequence[Fact], constants: dict[str, set[str]]
) -> list[_Binding]:
    """Extend the bindings by one more premise."""
    by_subject: dict[str, list[Fact]] = {}
    for fact in facts:
        by_subject.setdefault(f"c:{fact.subject_id}", []).append(fact)
    joined: list[_Binding] = []
    for binding in bindings:
        bound = binding.terms.get(_variable(pattern.subject) or "")
        for fact in facts if bound is None else by_subject.get(bound.identity, ()):
            terms = _unify(binding.terms, pattern, fact, constants)
            if terms is not None:
                joined.append(_Binding(terms, (*binding.premises, fact)))
        if len(joined) > MAX_BINDINGS:
            break
    return joined


def _unify(
    terms: dict[str, _BoundValue], pattern: Pattern, fact: Fact, constants: dict[str, set[str]]
) -> dict[str, _BoundValue] | None:
    """Return the variables after matching a fact with a pattern, or None if it does not match."""
    bound = dict(terms)
    subject = _BoundValue(f"c:{fact.subject_id}", fact.subject_id)
    object = _BoundValue(value_identity(fact.object, fact.object_id), fact.object_id or fact.object)
    for word, term in ((pattern.subject, subject), (pattern.object, object)):
        variable = _variable(word)
        if variable is None:
            if term.identity not in constants[str(word)]:
                return None
        elif bound.setdefault(variable, term).identity != term.identity:
            return None
    return bound


def _fill(word: Scalar, binding: _Binding) -> _BoundValue:
    variable = _variable(word)
    return _BoundValue(value_identity(word, None), word) if variable is None else binding.terms[variable]


def _variable(word: Scalar) -> str | None:
    return word if isinstance(word, str) and word.startswith("?") else None


def _check(body: RuleBody) -> None:
    """Check that a rule has both premises and a conclusion or neither, and that the premises bind all its variables."""
    if (body.then is None) != (not body.when):
        raise InvalidInput(
            "A rule has both premises and a conclusion, or is only a sentence.", hint="Give when and then."
        )
    if body.then is None:
        return
    for pattern in (*body.when, body.then):
        predicate_name(pattern.predicate)
    known = {_variable(word) for pattern in body.when for word in (pattern.subject, pattern.object)}
    loose = {_variable(word) for word in (body.then.subject, body.then.object)} - known - {None}
    if loose:
        raise InvalidInput(
            f"The conclusion speaks of {', '.join(sorted(map(str, loose)))}, which no premise mentions.",
            hint="Every variable of the conclusion must occur in a premise.",
        )


def rule_body(
    name: str,
    statement: str,
    when: Sequence[Pattern | Sequence[Scalar]],
    then: Pattern | Sequence[Scalar] | None,
    confidence: float,
) -> RuleBody:
    """Build a rule from a caller's arguments; a pattern may be a triple."""
    value = {"name": name, "statement": statement, "confidence": confidence}
    patterns = [_pattern(premise) for premise in when]
    return validated(RuleBody, {**value, "when": patterns, "then": None if then is None else _pattern(then)})


def _pattern(pattern: Pattern | Sequence[Scalar]) -> Pattern:
    if isinstance(pattern, Pattern):
        return pattern
    if isinstance(pattern, str) or len(pattern) != 3:
        raise InvalidInput(f"{pattern!r} is not a pattern.", hint="Give (subject, predicate, object).")
    return validated(Pattern, dict(zip(("subject", "predicate", "object"), pattern, strict=True)))
