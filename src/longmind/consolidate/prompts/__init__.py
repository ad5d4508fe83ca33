"""The prompts of consolidation: files with versions, as ``longmind.models.prompts`` reads them."""
