"""Lists that begin short: the first few, and a button that shows the rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from longmind.console.parts.elements import box, button


def first_and_rest(classes: str, shows: Sequence[Callable[[], object]], first: int, item_classes: str = "") -> None:
    """Show the first items of a list, each by its function, and a button for those that follow."""
    with box("ul").classes(classes) as items:
        for show in shows[:first]:
            with box("li").classes(item_classes):
                show()
    rest = shows[first:]
    if not rest:
        return

    def unfold() -> None:
        more.delete()
        with items:
            for show in rest:
                with box("li").classes(item_classes):
                    show()

    more = button(f"Show {len(rest):,} more", unfold, icon="expand_more")
