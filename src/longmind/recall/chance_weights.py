"""The weights of the signs of a chance, the constant first. Written by ``python -m training.calibrate --write``."""

UNREAD = (
    -6.4031,  # constant
    0.8259,  # confidence
    5.5221,  # share
    -0.4103,  # rank
    -1.2919,  # first
    3.0206,  # confidence of the first
    -0.1703,  # memories
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
