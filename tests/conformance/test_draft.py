"""The part of the conformance suite that applies to a draft of consolidation.

A draft has one scope, scans by a few fields, and keeps no journal, feed or statistics of its own, and orders links
only to cut them; tests of those do not apply to it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from longmind.consolidate.draft import Draft
from longmind.store.conformance.deletes import Deletes
from longmind.store.conformance.links import Links
from longmind.store.conformance.puts import Puts
from longmind.store.conformance.reads import Reads
from longmind.store.conformance.steps import AGENT
from longmind.store.conformance.updates import Updates
from longmind.store.conformance.values import Values
from longmind.store.inmem import InmemBackend

APPLICABLE = (
    (Puts, "test_what_is_put_is_got"),
    (Puts, "test_a_taken_key_fails_if_asked_to"),
    (Puts, "test_a_key_is_free_after_its_holder_is_deleted_or_renamed"),
    (Puts, "test_many_without_a_key_do_not_collide"),
    (Puts, "test_a_key_put_twice_in_one_batch_is_put_once"),
    (Puts, "test_a_user_may_write_for_herself_and_for_all"),
    (Updates, "test_every_field_that_may_change_changes"),
    (Updates, "test_changes_may_be_given_as_json"),
    (Updates, "test_fields_can_be_cleared"),
    (Updates, "test_true_one_and_its_text_are_three_values"),
    (Updates, "test_a_change_is_judged_with_what_is_stored"),
    (Updates, "test_an_update_may_expect_a_version"),
    (Updates, "test_an_expected_version_counts_even_if_nothing_would_change"),
    (Updates, "test_a_taken_key_cannot_be_taken_over"),
    (Updates, "test_two_keys_can_change_hands_in_one_batch"),
    (Deletes, "test_a_delete_may_expect_a_version"),
    (Links, "test_a_link_is_stored_as_given"),
    (Links, "test_one_relation"),
    (Links, "test_both_ends_must_be_in_scope"),
    (Links, "test_a_missing_link_cannot_be_removed"),
    (Reads, "test_get_keeps_the_order_and_tells_each_once"),
    (Reads, "test_get_reads_every_state"),
    (Reads, "test_as_many_ids_as_one_likes"),
    (Values, "test_json_at_the_greatest_depth"),
    (Values, "test_numbers_keep_every_bit"),
    (Values, "test_as_many_tags_as_there_may_be_in_their_order"),
)


@pytest.fixture
async def draft() -> AsyncIterator[Draft]:
    base = await InmemBackend.open()
    yield Draft(base, AGENT)
    await base.close()


@pytest.mark.parametrize(("suite", "name"), APPLICABLE, ids=[name for _, name in APPLICABLE])
async def test_a_draft_behaves_as_a_backend(draft: Draft, suite: type, name: str) -> None:
    await getattr(suite(), name)(draft)


async def test_a_key_is_held_in_any_state_in_a_draft_too(draft: Draft) -> None:
    for state in ("archived", "superseded", "stale", "quarantined"):
        await Puts().test_a_key_is_held_in_any_state(Draft(draft, AGENT), state)
