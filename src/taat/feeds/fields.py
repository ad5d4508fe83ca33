"""Making a post of the fields that a program wrote: ``id``, ``author``, ``text`` and ``created_at``."""

from collections.abc import Mapping
from datetime import UTC
from typing import Any

from pydantic import ValidationError

from taat.models import Post

FIELDS = ("id", "author", "text", "created_at")


def post_of_fields(fields: Mapping[str, Any], feed: str, **more: Any) -> Post:
    """Return the post that the fields make; other fields are ignored, ``more`` is set as it is.

    Raises ``ValueError`` that says what is wrong, to be put after the name of the place ("Line 3").
    """
    if missing := [name for name in FIELDS if fields.get(name) is None]:
        raise ValueError(f"has no {' and no '.join(missing)}")
    post_id = fields["id"]
    values = {
        "id": str(post_id) if isinstance(post_id, int) and not isinstance(post_id, bool) else post_id,
        "author": fields["author"],
        "text": fields["text"],
        "created_at": fields["created_at"],
        **more,
    }
    try:
        post = Post(feed=feed, **{name: whole_characters(value) for name, value in values.items()})
        moment = post.created_at
        utc = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except ValidationError as error:
        first = error.errors()[0]
        raise ValueError(f"has a wrong {first['loc'][0]}: {first['msg']}") from error
    except OverflowError as error:
        raise ValueError("has a wrong created_at: out of range") from error
    if not 1970 <= utc.year < 9999:
        raise ValueError("has a wrong created_at: out of range")
    return post.model_copy(update={"created_at": utc})


def whole_characters(value: Any) -> Any:
    """Return a text with halves of characters replaced: JSON can carry them, UTF-8 cannot."""
    if not isinstance(value, str) or value.isascii():
        return value
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
