"""An OpenID provider that listens on this machine."""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

AUDIENCE = "longmind"


class Issuer:
    """A provider: its keys, its documents, and the tokens it signs."""

    def __init__(self) -> None:
        self.keys: dict[str, Any] = {"first": rsa.generate_private_key(public_exponent=65537, key_size=2048)}
        self.requests: list[str] = []
        self.broken = False
        issuer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                issuer.requests.append(self.path)
                document = issuer.documents().get(self.path)
                if document is None or issuer.broken:
                    self.send_error(503)
                    return
                content = json.dumps(document).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def documents(self) -> dict[str, Any]:
        return {
            "/.well-known/openid-configuration": {"issuer": self.url, "jwks_uri": f"{self.url}/keys"},
            "/keys": {"keys": [self.public(kid) for kid in self.keys]},
        }

    def public(self, kid: str) -> dict[str, Any]:
        key = self.keys[kid].public_key()
        algorithm = jwt.algorithms.RSAAlgorithm if isinstance(key, rsa.RSAPublicKey) else jwt.algorithms.ECAlgorithm
        fields: dict[str, Any] = algorithm.to_jwk(key, as_dict=True)
        name = "RS256" if isinstance(key, rsa.RSAPublicKey) else "ES256"
        return fields | {"kid": kid, "alg": name, "use": "sig"}

    def token(self, kid: str | None = "first", *, key: Any = None, algorithm: str = "RS256", **claims: Any) -> str:
        fields = {
            "iss": self.url,
            "aud": AUDIENCE,
            "sub": "ann",
            "exp": int(time.time()) + 300,
            "tenant": "acme",
            "scope": "openid longmind:write",
        }
        fields = {name: value for name, value in (fields | claims).items() if value is not None}
        signing = key if key is not None else self.keys[kid or "first"]
        return jwt.encode(fields, signing, algorithm=algorithm, headers={"kid": kid} if kid else None)

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
