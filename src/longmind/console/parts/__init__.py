"""What pages are made of. A page uses these, so that a thing looks and behaves the same wherever it is shown."""
