"""The weights of the signs of a chance, the constant first. Written by ``python -m training.calibrate --write``."""

UNREAD = (
    -6.6860,  # constant
    0.9019,  # confidence
    5.7971,  # share
    -0.5190,  # rank
    -1.6477,  # first
    3.1813,  # confidence of the first
    -0.1498,  # memories
)
READ = (
    -2.9629,  # constant
    0.5824,  # confidence
    1.7827,  # share
    -0.0909,  # rank
    -0.2346,  # first
    1.6548,  # confidence of the first
    -0.1550,  # memories
    0.3965,  # read for it
    0.3771,  # read
    -0.2453,  # best read
)
