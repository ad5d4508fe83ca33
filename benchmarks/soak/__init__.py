"""One agent that lives for sixty simulated days, and what its memory is like at the end of each week."""
