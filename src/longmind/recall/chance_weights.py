"""The weights of the signs of a chance, the constant first. Written by ``python -m training.calibrate --write``."""

UNREAD = (
    -6.5710,  # constant
    0.8567,  # confidence
    5.4664,  # share
    -0.3063,  # rank
    -1.1747,  # first
    3.0166,  # confidence of the first
    -0.1569,  # memories
)
READ = (
    -3.9547,  # constant
    1.1236,  # confidence
    3.0500,  # share
    -0.4622,  # rank
    -0.3493,  # first
    1.5084,  # confidence of the first
    -0.1613,  # memories
    0.4255,  # read for it
    0.4337,  # read
    -0.2508,  # best read
)
