"""Blocking goals and plans."""

from longmind.sync.blocking import Blocking, blocking
from longmind.systems import goals as asynchronous


class GoalMemory(Blocking[asynchronous.GoalMemory]):
    """Blocking; see ``longmind.systems.goals.GoalMemory``."""

    create = blocking(asynchronous.GoalMemory.create)
    create_goal_with_plan = blocking(asynchronous.GoalMemory.create_goal_with_plan)
    get = blocking(asynchronous.GoalMemory.get)
    state = blocking(asynchronous.GoalMemory.state)
    sub_goals = blocking(asynchronous.GoalMemory.sub_goals)
    list = blocking(asynchronous.GoalMemory.list)
    search = blocking(asynchronous.GoalMemory.search)
    update = blocking(asynchronous.GoalMemory.update)
    activate = blocking(asynchronous.GoalMemory.activate)
    block = blocking(asynchronous.GoalMemory.block)
    unblock = blocking(asynchronous.GoalMemory.unblock)
    achieve = blocking(asynchronous.GoalMemory.achieve)
    fail = blocking(asynchronous.GoalMemory.fail)
    abandon = blocking(asynchronous.GoalMemory.abandon)
    reopen = blocking(asynchronous.GoalMemory.reopen)
    meet = blocking(asynchronous.GoalMemory.meet)
    reopen_criterion = blocking(asynchronous.GoalMemory.reopen_criterion)
    link = blocking(asynchronous.GoalMemory.link)
    linked = blocking(asynchronous.GoalMemory.linked)
    plan_for = blocking(asynchronous.GoalMemory.plan_for)
    plan = blocking(asynchronous.GoalMemory.plan)
    plans = blocking(asynchronous.GoalMemory.plans)
    map_step = blocking(asynchronous.GoalMemory.map_step)
    next_steps = blocking(asynchronous.GoalMemory.next_steps)
    start_step = blocking(asynchronous.GoalMemory.start_step)
    renew_step = blocking(asynchronous.GoalMemory.renew_step)
    release_step = blocking(asynchronous.GoalMemory.release_step)
    complete_step = blocking(asynchronous.GoalMemory.complete_step)
    fail_step = blocking(asynchronous.GoalMemory.fail_step)
    skip_step = blocking(asynchronous.GoalMemory.skip_step)
    progress = blocking(asynchronous.GoalMemory.progress)
    render = blocking(asynchronous.GoalMemory.render)
    monitor = blocking(asynchronous.GoalMemory.monitor)
    report_problems = blocking(asynchronous.GoalMemory.report_problems)
    monitoring = blocking(asynchronous.GoalMemory.monitoring)
    configure_monitoring = blocking(asynchronous.GoalMemory.configure_monitoring)
    revise = blocking(asynchronous.GoalMemory.revise)
    revisions = blocking(asynchronous.GoalMemory.revisions)
    evaluate_revisions = blocking(asynchronous.GoalMemory.evaluate_revisions)
