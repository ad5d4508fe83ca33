"""A small server that speaks Alpaca's HTTP, and misbehaves when a test asks for it."""

import json
import threading
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

KEY, SECRET = "PKTESTKEY0001", "s3cr3t-s3cr3t-s3cr3t"


class AlpacaServer:
    """Orders, executions and prices in memory.

    ``faults`` has for a call such as ``POST /v2/orders`` what happens to the next requests, one entry each:
    ``ok``, a status, ``cut``, ``slow`` (no answer at all), or ``done then`` and one of these: the request is carried
    out, and then fails.
    """

    def __init__(self) -> None:
        self.orders: dict[str, dict[str, Any]] = {}
        self.activities: list[dict[str, Any]] = []
        self.positions: list[dict[str, Any]] = []
        self.quotes: dict[str, dict[str, Any]] = {}
        self.trades: dict[str, dict[str, Any]] = {}
        self.faults: dict[str, list[str]] = {}
        self.retry_after: str | None = None
        self.refusal: tuple[int, dict[str, Any]] | None = None
        self.calls: Counter[str] = Counter()
        self.bodies: list[dict[str, Any]] = []
        self.queries: list[str] = []
        self.released = threading.Event()
        self.lock = threading.Lock()
        self.url = ""

    def fill(self, client_id: str, quantity: str, price: str, *, listed: bool = True) -> None:
        """Execute a part of an order; ``listed``: whether it is among the activities already."""
        order = self.orders[client_id]
        filled = Decimal(order["filled_qty"]) + Decimal(quantity)
        order["filled_qty"] = str(filled)
        order["filled_avg_price"] = price
        order["status"] = "filled" if filled == Decimal(order["qty"]) else "partially_filled"
        if listed:
            self.list_fill(client_id, quantity, price)

    def list_fill(self, client_id: str, quantity: str, price: str) -> None:
        """Add an execution to the activities."""
        number = len(self.activities) + 1
        self.activities.append(
            {
                "id": f"20260302150{number:03d}000::{uuid.UUID(int=number)}",
                "activity_type": "FILL",
                "order_id": self.orders[client_id]["id"],
                "qty": quantity,
                "price": price,
                "side": self.orders[client_id]["side"],
                "symbol": self.orders[client_id]["symbol"],
                "transaction_time": "2026-03-02T15:01:02.123456789Z",
            }
        )

    def answer(self, method: str, path: str, query: dict[str, str], body: dict[str, Any]) -> tuple[int, Any]:
        """Carry out a request and return the status and the answer."""
        with self.lock:
            match method, path:
                case "POST", "/v2/orders":
                    return self._order(body)
                case "GET", "/v2/orders:by_client_order_id":
                    order = self.orders.get(query["client_order_id"])
                    return (200, order) if order else (404, {"code": 40410000, "message": "order not found"})
                case "GET", "/v2/orders":
                    ended = ("filled", "canceled", "expired", "rejected")
                    listed = [o for o in self.orders.values() if query["status"] == "all" or o["status"] not in ended]
                    return 200, listed[: int(query["limit"])]
                case "GET", "/v2/account/activities/FILL":
                    ids = [activity["id"] for activity in self.activities]
                    start = ids.index(query["page_token"]) + 1 if "page_token" in query else 0
                    return 200, self.activities[start : start + int(query["page_size"])]
                case "GET", "/v2/positions":
                    return 200, self.positions
                case "GET", "/v2/account":
                    return 200, {
                        "id": str(uuid.UUID(int=1)),
                        "cash": "1000.10",
                        "equity": "1500.25",
                        "last_equity": "1400",
                        "buying_power": "2200.50",
                    }
            if path.startswith("/v2/orders/"):
                return self._one(method, path.rsplit("/", 1)[1])
            if path.endswith(("/quotes/latest", "/latest/quotes")):
                return self._prices("quotes", self.quotes, query["symbols"])
            if path.endswith(("/trades/latest", "/latest/trades")):
                return self._prices("trades", self.trades, query["symbols"])
            return 404, {"code": 40410000, "message": f"no {path}"}

    def _order(self, body: dict[str, Any]) -> tuple[int, Any]:
        if self.refusal is not None:
            return self.refusal
        if body["client_order_id"] in self.orders:
            return 422, {"code": 40010001, "message": "client_order_id must be unique"}
        symbol = body["symbol"]
        asset = "crypto" if "/" in symbol else "us_option" if len(symbol) > 15 else "us_equity"
        order = {
            **body,
            "id": str(uuid.uuid5(uuid.NAMESPACE_OID, body["client_order_id"])),
            "asset_class": asset,
            "order_type": body["type"],
            "filled_qty": "0",
            "filled_avg_price": None,
            "status": "accepted",
            "created_at": "2026-03-02T15:00:00.123456789Z",
            "submitted_at": "2026-03-02T15:00:00.123456789Z",
        }
        self.orders[body["client_order_id"]] = order
        return 200, order

    def _one(self, method: str, order_id: str) -> tuple[int, Any]:
        order = next((order for order in self.orders.values() if order["id"] == order_id), None)
        if order is None:
            return 404, {"code": 40410000, "message": "order not found"}
        if method == "GET":
            return 200, order
        if order["status"] in ("filled", "canceled"):
            return 422, {"code": 42210000, "message": f"order is already in {order['status']} state"}
        order["status"] = "canceled"
        return 204, None

    def _prices(self, name: str, prices: dict[str, dict[str, Any]], symbol: str) -> tuple[int, Any]:
        if symbol == "NOSUCH":
            return 400, {"message": "invalid symbol: NOSUCH"}
        return 200, {name: {symbol: prices[symbol]} if symbol in prices else {}}


class Handler(BaseHTTPRequestHandler):
    """One request."""

    protocol_version = "HTTP/1.1"
    alpaca: AlpacaServer

    def handle_one(self) -> None:
        parts = urlsplit(self.path)
        query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length)) if length else {}
        call = f"{self.command} {parts.path}"
        with self.alpaca.lock:
            self.alpaca.calls[call] += 1
            self.alpaca.bodies.append(body)
            self.alpaca.queries.append(parts.query)
            faults = self.alpaca.faults.get(call)
            fault = faults.pop(0) if faults else "ok"
        if self.headers.get("APCA-API-KEY-ID") != KEY or self.headers.get("APCA-API-SECRET-KEY") != SECRET:
            self.reply(401, {"code": 40110000, "message": f"request is not authorized {self.headers.as_string()}"})
            return
        if fault == "ok":
            self.reply(*self.alpaca.answer(self.command, parts.path, query, body))
            return
        if fault.startswith("done then "):
            self.alpaca.answer(self.command, parts.path, query, body)
        self.misbehave(fault.removeprefix("done then "))

    do_GET = do_POST = do_DELETE = handle_one

    def misbehave(self, fault: str) -> None:
        if fault == "slow":
            self.alpaca.released.wait()
            self.close_connection = True
        elif fault == "cut":
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b'{"id": "')
            self.close_connection = True
        elif fault == "page":
            self.reply(502, None, raw=f"<html>Bad gateway {SECRET}</html>".encode())
        else:
            self.reply(int(fault), {"code": 1, "message": "too many requests" if fault == "429" else "sorry"})

    def reply(self, status: int, answer: Any, raw: bytes | None = None) -> None:
        text = raw if raw is not None else b"" if answer is None else json.dumps(answer).encode()
        self.send_response(status)
        if status == 429 and self.alpaca.retry_after is not None:
            self.send_header("Retry-After", self.alpaca.retry_after)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@contextmanager
def alpaca_server() -> Iterator[AlpacaServer]:
    """Run a server at a free port of this machine."""
    alpaca = AlpacaServer()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (Handler,), {"alpaca": alpaca}))
    server.daemon_threads = True
    alpaca.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield alpaca
    finally:
        alpaca.released.set()
        server.shutdown()
        server.server_close()
        thread.join()
