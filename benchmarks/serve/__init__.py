"""The server under load: what it adds to a recall, and that nothing acknowledged is lost when it is killed."""
