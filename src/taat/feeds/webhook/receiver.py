"""The HTTP side of the webhook: what is accepted, and what every other request is told."""

import hashlib
import hmac
import json
import logging
import re
import socket
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from taat.feeds.fields import FIELDS, post_of_fields
from taat.models import Post

log = logging.getLogger(__name__)
SIGNATURE = "X-Hub-Signature-256"
LARGEST_BODY = 1_000_000
MOST_POSTS = 1_000
_MOST_CONNECTIONS = 64
_PATIENCE = 15.0
_FORM = f"Send a JSON object with {', '.join(FIELDS)}, or a list of them."
_LOCAL_NAMES = ("localhost", "127.0.0.1", "[::1]")


class Refused(Exception):
    """A request that is not accepted: its status, what is wrong, and what to do."""

    def __init__(self, status: int, code: str, message: str, hint: str = _FORM) -> None:
        super().__init__(message)
        self.status = status
        self.answer = {"error": code, "message": message, "hint": hint}


class Receiver(ThreadingHTTPServer):
    """Takes posts at an address, and hands each request's posts to ``keep``, which returns how many are new."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(
        self, host: str, port: int, feed: str, secret: bytes | None, keep: Callable[[list[Post]], int]
    ) -> None:
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.feed, self.secret, self.keep = feed, secret, keep
        self._places = threading.BoundedSemaphore(_MOST_CONNECTIONS)
        super().__init__((host, port), _Request)

    def process_request(self, request: Any, client_address: Any) -> None:
        if self._places.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        log.warning("A request to the webhook broke off.", exc_info=True)


class _Request(BaseHTTPRequestHandler):
    server: Receiver
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "taat", ""
    timeout = _PATIENCE

    def log_message(self, format: str, *args: Any) -> None:
        log.debug(format, *args)

    def do_POST(self) -> None:
        try:
            posts = self._posts(self._body())
            new = self.server.keep(posts)
        except Refused as refused:
            self._answer(refused.status, refused.answer)
        except OSError as error:
            log.error("Posts could not be kept (%s).", error.strerror or error)
            hint = "Send them again later."
            self._answer(503, {"error": "not_kept", "message": "The posts could not be kept.", "hint": hint})
        else:
            self._answer(200, {"accepted": new, "known": len(posts) - new})

    def _other(self) -> None:
        self._answer(405, {"error": "wrong_method", "message": f"{self.command} is not taken.", "hint": _FORM})

    do_GET = do_HEAD = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = _other

    def _body(self) -> bytes:
        if self.path not in ("/", "/posts"):
            raise Refused(404, "not_found", f"There is nothing at {self.path[:100]}.", "Send posts to /posts.")
        if self.headers.get_content_type() != "application/json":
            # a web page in a browser cannot send this type to another address without asking first
            raise Refused(415, "wrong_type", "The body is not JSON.", "Send it as Content-Type: application/json.")
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or self.headers.get("Transfer-Encoding"):
            raise Refused(411, "no_length", "The request does not say how long it is.", "Send a Content-Length.")
        if len(length) > 12 or int(length) > LARGEST_BODY:
            hint = "Send the posts in several requests."
            raise Refused(413, "too_large", f"The body is larger than {LARGEST_BODY:,} bytes.", hint)
        body = self.rfile.read(int(length))
        if len(body) < int(length):
            raise Refused(400, "cut", "The body is shorter than the request said.", "Send it again.")
        self._check_sender(body)
        return body

    def _check_sender(self, body: bytes) -> None:
        if self.server.secret is None:
            # a web page can name any host as its own, but not with our name
            if re.sub(r":\d+$", "", self.headers.get("Host", "")).lower() not in _LOCAL_NAMES:
                hint = "Send it to localhost, or set TAAT_WEBHOOK_SECRET and sign it."
                raise Refused(403, "wrong_host", "Without a secret only this computer's own names are taken.", hint)
            return
        right = "sha256=" + hmac.new(self.server.secret, body, hashlib.sha256).hexdigest()
        if not hmac.compare_digest(right.encode(), self.headers.get(SIGNATURE, "").encode("utf-8", "replace")):
            hint = f"Sign the body with HMAC-SHA256 and send {SIGNATURE}: sha256=HEX."
            raise Refused(401, "wrong_signature", "The signature is missing or wrong.", hint)

    def _posts(self, body: bytes) -> list[Post]:
        try:
            data = json.loads(body.decode("utf-8"))
        except (ValueError, RecursionError) as error:
            raise Refused(400, "not_json", "The body is not JSON in UTF-8.") from error
        items = data if isinstance(data, list) else [data]
        if len(items) > MOST_POSTS:
            hint = "Send them in several requests."
            raise Refused(413, "too_large", f"The body has more than {MOST_POSTS:,} posts.", hint)
        return [self._post(item, number) for number, item in enumerate(items, 1)]

    def _post(self, fields: Any, number: int) -> Post:
        if not isinstance(fields, dict):
            raise Refused(422, "invalid_post", f"Post {number} is not a JSON object.")
        more = {name: fields[name] for name in ("edited", "reply_to") if fields.get(name) is not None}
        try:
            return post_of_fields(fields, self.server.feed, **more)
        except ValueError as error:
            raise Refused(422, "invalid_post", f"Post {number} {error}.") from error

    def _answer(self, status: int, data: dict[str, Any]) -> None:
        body = json.dumps(data).encode() + b"\n"
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if status == 405:
            self.send_header("Allow", "POST")
        if status != 200:
            # what was not read of the body would be taken for the next request
            self.send_header("Connection", "close")
            self.close_connection = True
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
