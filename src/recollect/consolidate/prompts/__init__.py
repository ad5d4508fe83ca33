"""The prompts of consolidation: files with versions, as ``recollect.models.prompts`` reads them."""
