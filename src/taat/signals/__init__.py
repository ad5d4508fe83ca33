"""Reading signals from the text of posts."""
