"""A graph as text: JSON for programs, GraphML for graph tools, Mermaid for documents."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Literal
from xml.etree import ElementTree

from longmind.errors import InvalidInput
from longmind.systems.semantic.models import Fact, Graph

Format = Literal["json", "graphml", "mermaid"]
_XMLNS = "http://graphml.graphdrawing.org/xmlns"
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NODE_KEYS = ("label", "type", "category", "definition", "aliases")
_EDGE_KEYS = ("predicate", "confidence", "valid_from", "valid_to", "state")
_LABEL = 80


def export_graph(graph: Graph, format: str) -> str:
    """Return the graph as text in one of the formats."""
    writer = _WRITERS.get(format)
    if writer is None:
        raise InvalidInput(f"There is no graph format {format!r}.", hint=f"There are: {', '.join(_WRITERS)}.")
    return writer(graph)


def as_json(graph: Graph) -> str:
    return graph.model_dump_json(indent=2)


def as_graphml(graph: Graph) -> str:
    """Return the graph as GraphML 1.0. Plain values are nodes of the type ``value``."""
    root = ElementTree.Element("graphml", {"xmlns": _XMLNS})
    for target, keys in (("node", _NODE_KEYS), ("edge", _EDGE_KEYS)):
        for key in keys:
            kind = "double" if key == "confidence" else "string"
            attributes = {"id": f"{target}_{key}", "for": target, "attr.name": key, "attr.type": kind}
            ElementTree.SubElement(root, "key", attributes)
    drawing = ElementTree.SubElement(root, "graph", {"id": "semantic", "edgedefault": "directed"})
    for node in graph.nodes:
        concept = node.concept
        element = ElementTree.SubElement(drawing, "node", {"id": concept.id})
        values = {"category": concept.category, "definition": concept.definition, "aliases": ", ".join(concept.aliases)}
        _data(element, "node", {"label": concept.name, "type": "concept", **values})
    for fact in graph.values:
        element = ElementTree.SubElement(drawing, "node", {"id": _value_id(fact)})
        _data(element, "node", {"label": str(fact.object), "type": "value"})
    for fact in (*graph.edges, *graph.values):
        ends = {"id": fact.id, "source": fact.subject_id, "target": fact.object_id or _value_id(fact)}
        _data(ElementTree.SubElement(drawing, "edge", ends), "edge", _edge(fact))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True)


def as_mermaid(graph: Graph) -> str:
    """Return the graph as a Mermaid flowchart: concepts in boxes, plain values in rounded boxes."""
    names = {node.concept.id: f"c{n}" for n, node in enumerate(graph.nodes)}
    lines = ["graph LR"]
    lines += [f"    {names[node.concept.id]}[{_quoted(node.concept.name)}]" for node in graph.nodes]
    lines += [f"    v{n}({_quoted(str(fact.object))})" for n, fact in enumerate(graph.values)]
    for fact in graph.edges:
        lines.append(_arrow(names[fact.subject_id], fact, names[fact.object_id or ""]))
    lines += [_arrow(names[fact.subject_id], fact, f"v{n}") for n, fact in enumerate(graph.values)]
    return "\n".join(lines) + "\n"


def _edge(fact: Fact) -> dict[str, str | None]:
    return {
        "predicate": fact.predicate,
        "confidence": f"{fact.confidence:.4f}",
        "valid_from": fact.valid_from.isoformat() if fact.valid_from else None,
        "valid_to": fact.valid_to.isoformat() if fact.valid_to else None,
        "state": fact.state,
    }


def _value_id(fact: Fact) -> str:
    return f"value-{fact.id}"


def _data(element: ElementTree.Element, target: str, values: Mapping[str, str | None]) -> None:
    for key, value in values.items():
        if value:
            ElementTree.SubElement(element, "data", {"key": f"{target}_{key}"}).text = _NOT_XML.sub("�", value)


def _arrow(source: str, fact: Fact, target: str) -> str:
    return f"    {source} -->|{_quoted(fact.predicate)}| {target}"


def _quoted(text: str) -> str:
    """Return a quoted Mermaid label, with Mermaid's special characters escaped and long texts cut."""
    shown = " ".join(text.split())
    shown = shown if len(shown) <= _LABEL else shown[: _LABEL - 1] + "…"
    return '"' + "".join(f"#{ord(c)};" if c in '"#<>&`\\|[](){};' else c for c in shown) + '"'


_WRITERS: Mapping[str, Callable[[Graph], str]] = {"json": as_json, "graphml": as_graphml, "mermaid": as_mermaid}
