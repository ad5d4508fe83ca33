"""Search inside one scope: the analyser, the postings, the vectors, and the view that keeps them fresh."""
