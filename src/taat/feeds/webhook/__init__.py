"""Posts that other programs send over HTTP."""

from taat.feeds.webhook.feed import WebhookFeed

__all__ = ["WebhookFeed"]
