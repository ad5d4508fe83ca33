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
    -2.5005,  # constant
    0.8100,  # confidence
    1.7523,  # share
    -0.2889,  # rank
    0.1052,  # first
    0.8839,  # confidence of the first
    -0.1911,  # memories
    0.4541,  # read for it
    -0.0085,  # read
    -0.2255,  # best read
)
