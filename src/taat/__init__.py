"""TAAT: follows accounts that announce trades, with everything it knows in Longmind."""
