"""Models that turn text into vectors: one protocol, one file per provider.

``base`` says what an embedder is, ``open`` makes one from a short text such as ``"static"`` or ``"minilm"``. Nothing
heavy is imported before an embedder is used, and nothing here touches the network unless the address of a server
was given.
"""
