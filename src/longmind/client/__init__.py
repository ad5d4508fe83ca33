"""The same faces over HTTP: what ``Longmind.open("https://...", key=...)`` returns.

Each class is a subclass of the one that it stands for, so programs and type checkers see no difference. Its methods are
made from the table of operations: the arguments become a request, and the response becomes what the method returns.
What cannot be done from afar, such as passing a function, is ``Unsupported``.
"""

from longmind.client.memory import RemoteLongmind

__all__ = ["RemoteLongmind"]
