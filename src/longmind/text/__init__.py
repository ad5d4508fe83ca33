"""What Longmind knows about language: analysis into terms, sentences, dates, names and similarity."""
