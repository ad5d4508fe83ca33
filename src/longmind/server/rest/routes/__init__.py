"""Routes that are no method of a face, one module for each noun."""
