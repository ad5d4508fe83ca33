"""The weights of the signs of a chance, the constant first. Written by ``python -m training.calibrate --write``."""

UNREAD = (
    -7.0737,  # constant
    1.0349,  # confidence
    5.8042,  # share
    -0.4386,  # rank
    -1.1615,  # first
    3.0787,  # confidence of the first
    -0.1228,  # memories
)
READ = (
    -4.0706,  # constant
    1.0617,  # confidence
    3.0203,  # share
    -0.5926,  # rank
    -0.3027,  # first
    1.4619,  # confidence of the first
    -0.1104,  # memories
    0.4562,  # read for it
    0.5950,  # read
    -0.2292,  # best read
)
