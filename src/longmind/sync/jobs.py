"""Blocking administration of jobs."""

from longmind import jobs as asynchronous
from longmind.sync.blocking import Blocking, blocking, iterating


class JobAdministration(Blocking[asynchronous.JobAdministration]):
    """Blocking; see ``longmind.jobs.JobAdministration``."""

    status = blocking(asynchronous.JobAdministration.status)
    list = blocking(asynchronous.JobAdministration.list)
    get = blocking(asynchronous.JobAdministration.get)
    ask = blocking(asynchronous.JobAdministration.ask)
    retry = blocking(asynchronous.JobAdministration.retry)
    cancel = blocking(asynchronous.JobAdministration.cancel)
    watch = iterating(asynchronous.JobAdministration.watch)
