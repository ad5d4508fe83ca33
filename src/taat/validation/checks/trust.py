"""On whose word: the confidence of the reading, and the announcer's record."""

from taat.validation.checks.case import Case, percent
from taat.validation.verdict import Check


def confidence(case: Case) -> Check:
    value, least, sure = case.signal.confidence, case.rules.minimum_confidence, case.rules.confirm_below_confidence
    if not case.opens:
        return case.exempt("confidence")
    if value < least:
        return case.refused("confidence", f"The reading is too unsure: {value:.2f} of {least:.2f}.", value, least)
    if value < sure:
        return case.asks("confidence", f"The reading is a little unsure: {value:.2f} of {sure:.2f}.", value, sure)
    return case.passed("confidence", f"The reading is sure enough: {value:.2f}.", value, max(least, sure))


def announcer_suspended(case: Case) -> Check:
    if not case.opens:
        return case.exempt("announcer_suspended")
    if case.rules.announcer_suspended:
        return case.refused("announcer_suspended", f"{case.situation.announcer} is suspended.", "yes", "no")
    return case.passed("announcer_suspended", f"{case.situation.announcer} is not suspended.", "no", "no")


def announcer_record(case: Case) -> Check:
    rules, record, who = case.rules, case.situation.record, case.situation.announcer
    least, average = rules.announcer_minimum_expectancy_percent, record.expectancy_percent
    trades = f"{record.trades} closed trade{'s' * (record.trades != 1)}"
    if not case.opens:
        return case.exempt("announcer_record")
    if record.trades < rules.announcer_minimum_trades:
        reason = f"{who} has only {trades}; {rules.announcer_minimum_trades} are asked for."
        return case.asks("announcer_record", reason, record.trades, rules.announcer_minimum_trades)
    judged = record.trades > 0 and record.trades >= rules.announcer_judged_after_trades
    if least is None or average is None or not judged:
        return case.passed("announcer_record", f"{who} has {trades}, which says nothing against.", record.trades)
    if average < least:
        reason = f"{who} has an expectancy of {percent(average)} in {trades}; {percent(least)} are asked for."
        return case.refused("announcer_record", reason, average, least)
    return case.passed(
        "announcer_record", f"{who} has an expectancy of {percent(average)} in {trades}.", average, least
    )
