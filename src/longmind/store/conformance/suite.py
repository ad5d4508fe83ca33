"""All subjects in one class."""

import pytest

from longmind.store.conformance.deletes import Deletes
from longmind.store.conformance.erasure import Erasure
from longmind.store.conformance.feeds import Feeds
from longmind.store.conformance.filters import Filters, MetadataFilters
from longmind.store.conformance.idempotence import Idempotence
from longmind.store.conformance.isolation import HostileInput, Isolation
from longmind.store.conformance.journal import DerivedJournal, Journal
from longmind.store.conformance.lifecycle import Lifecycle
from longmind.store.conformance.links import Links
from longmind.store.conformance.numbering import Numbering
from longmind.store.conformance.pages import Pages
from longmind.store.conformance.puts import Puts
from longmind.store.conformance.reads import Reads
from longmind.store.conformance.spaces import Reembedding, Spaces
from longmind.store.conformance.touches import Touches
from longmind.store.conformance.updates import Updates
from longmind.store.conformance.users import Users
from longmind.store.conformance.values import Values


@pytest.mark.asyncio
class BackendConformance(
    Puts,
    Updates,
    Deletes,
    Erasure,
    Touches,
    Links,
    Idempotence,
    Numbering,
    Journal,
    DerivedJournal,
    Reads,
    Pages,
    Filters,
    MetadataFilters,
    Values,
    Isolation,
    Users,
    HostileInput,
    Feeds,
    Spaces,
    Reembedding,
    Lifecycle,
):
    """Every promise of the contract. A subclass gives the fixture ``backend`` and, if it can, ``reopen``."""
