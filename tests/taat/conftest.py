"""Property tests have no time limits: a machine that is busy with something else is no fault of what is tested."""

from hypothesis import HealthCheck, settings

settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")
