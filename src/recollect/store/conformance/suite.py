"""All subjects in one class."""

import pytest

from recollect.store.conformance.deletes import Deletes
from recollect.store.conformance.feeds import Feeds
from recollect.store.conformance.filters import Filters, MetadataFilters
from recollect.store.conformance.idempotence import Idempotence
from recollect.store.conformance.isolation import HostileInput, Isolation
from recollect.store.conformance.journal import DerivedJournal, Journal
from recollect.store.conformance.lifecycle import Lifecycle
from recollect.store.conformance.links import Links
from recollect.store.conformance.numbering import Numbering
from recollect.store.conformance.pages import Pages
from recollect.store.conformance.puts import Puts
from recollect.store.conformance.reads import Reads
from recollect.store.conformance.spaces import Reembedding, Spaces
from recollect.store.conformance.touches import Touches
from recollect.store.conformance.updates import Updates
from recollect.store.conformance.users import Users
from recollect.store.conformance.values import Values


@pytest.mark.asyncio
class BackendConformance(
    Puts,
    Updates,
    Deletes,
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
