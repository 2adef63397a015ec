"""An admission webhook of the tenants: it annotates every pod, and refuses pods of the run in a team's namespace."""

from __future__ import annotations

import base64
import json
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from muster.cluster.local.certificates import CertificateAuthority

NOTE = "tenants.example/seen"


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """An API server that hangs up, because its client was killed, is no news."""


class Webhook:
    """Serves until stopped; `asked` counts the pods that it was shown."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir()
        authority = CertificateAuthority(directory)
        authority.server("webhook")
        self.asked = 0
        self._server = _Server(("127.0.0.1", 0), self._handler())
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(directory / "webhook.crt", directory / "webhook.key")
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self._bundle = base64.b64encode(authority.certificate.read_bytes()).decode()
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def configuration(self) -> dict[str, Any]:
        pods = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"], "operations": ["CREATE"]}
        hook = {
            "name": "note.tenants.example",
            "admissionReviewVersions": ["v1"],
            "sideEffects": "None",
            "failurePolicy": "Fail",
            "clientConfig": {
                "url": f"https://127.0.0.1:{self._server.server_port}/note",
                "caBundle": self._bundle,
            },
            "rules": [pods],
        }
        return {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "MutatingWebhookConfiguration",
            "metadata": {"name": "tenants"},
            "webhooks": [hook],
        }

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _answer(self, request: dict[str, Any]) -> dict[str, Any]:
        self.asked += 1
        if request["namespace"].startswith("team-") and ":muster" in request["userInfo"]["username"]:
            return {"uid": request["uid"], "allowed": False, "status": {"message": "strangers may not"}}
        annotations = request["object"]["metadata"].get("annotations") or {}
        patch = [{"op": "add", "path": "/metadata/annotations", "value": {**annotations, NOTE: "yes"}}]
        encoded = base64.b64encode(json.dumps(patch).encode()).decode()
        return {"uid": request["uid"], "allowed": True, "patchType": "JSONPatch", "patch": encoded}

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        webhook = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                answer = {**review, "response": webhook._answer(review["request"])}
                del answer["request"]
                body = json.dumps(answer).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        return Handler
