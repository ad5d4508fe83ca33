"""The stages of consolidation, one file each, in the order of ``cycle.STAGES``."""
