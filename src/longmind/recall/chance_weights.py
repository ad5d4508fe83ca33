"""The weights of the signs of a chance, the constant first. Written by ``python -m training.calibrate --write``."""

UNREAD = (
    -6.6860,  # constant
    0.9019,  # confidence
    5.7971,  # share
    -0.5190,  # rank
    -1.6473,  # first
    3.1809,  # confidence of the first
    -0.1498,  # memories
)
READ = (
    -3.0360,  # constant
    0.7846,  # confidence
    1.7821,  # share
    -0.2468,  # rank
    -0.3338,  # first
    1.4816,  # confidence of the first
    -0.1542,  # memories
    0.4230,  # read for it
    0.5558,  # read
    -0.2745,  # best read
)
