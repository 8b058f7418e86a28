"""The real HTTP client, against a server of this program."""

from __future__ import annotations

import threading
import time
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import kopeck


class Handler(BaseHTTPRequestHandler):
    seen: list[str] = []

    def do_GET(self) -> None:
        self.seen.append(self.path)
        if self.path == "/v1/rate":
            return self._reply(302, b"", {"Location": "/v1/ping"})
        if self.path == "/v1/balance":
            time.sleep(1)
        if self.path == "/v1/ping":
            return self._reply(429, b'{"error":{"code":"rate_limited","message":"slowly"}}', {"Retry-After": "9"})
        return self._reply(200, b"{}", {})

    def _reply(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        try:
            self.send_response(status)
            for name, value in {**headers, "Content-Length": f"{len(body)}"}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)
        except OSError:
            # The client has left.
            self.close_connection = True

    def log_message(self, *_args: object) -> None:
        pass


class HttpClient(unittest.TestCase):
    def setUp(self) -> None:
        Handler.seen.clear()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def tearDown(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def client(self, timeout: float = 10) -> kopeck.Kopeck:
        return kopeck.Kopeck("svc_test_a", self.url, max_retries=0, timeout=timeout)

    def test_a_refusal_has_its_headers(self) -> None:
        with self.assertRaises(kopeck.RateLimitError) as caught:
            self.client().ping()
        self.assertEqual((caught.exception.code, caught.exception.retry_after), ("rate_limited", 9))

    def test_a_redirect_is_not_followed(self) -> None:
        with self.assertRaises(kopeck.KopeckError) as caught:
            self.client().rate()
        self.assertEqual(caught.exception.code, "http_302")
        self.assertEqual(Handler.seen, ["/v1/rate"])

    def test_a_late_answer_is_a_time_out(self) -> None:
        with self.assertRaises(kopeck.TimedOutError):
            self.client(0.1).balance()

    def test_no_server_is_a_failed_connection(self) -> None:
        with self.assertRaises(kopeck.ConnectionFailedError):
            kopeck.Kopeck("svc_test_a", "http://127.0.0.1:1", max_retries=0).ping()


if __name__ == "__main__":
    unittest.main()
