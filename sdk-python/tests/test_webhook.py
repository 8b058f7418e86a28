from __future__ import annotations

import base64
import hashlib
import hmac
import unittest
from typing import Any

from kopeck import SignatureError, verify_webhook

NOW = 1_794_736_800
BODY = '{"id":"evt_1","data":{"recipient":"ООО «Ромашка»"}}'
SECRET = "whsec_" + base64.b64encode(b"a secret of the endpoint").decode()


def sign(secret: str, at: int = NOW, body: str = BODY) -> str:
    digest = hmac.new(secret.encode(), f"{at}.{body}".encode(), hashlib.sha256).hexdigest()
    return f"t={at},v1={digest}"


def standard(secret: str, at: int = NOW) -> dict[str, str]:
    key = base64.b64decode(secret.removeprefix("whsec_"))
    digest = hmac.new(key, f"evt_1.{at}.{BODY}".encode(), hashlib.sha256).digest()
    return {
        "Webhook-Id": "evt_1",
        "Webhook-Timestamp": f"{at}",
        "Webhook-Signature": f"v1a,AAAA v1,{base64.b64encode(digest).decode()}",
    }


def code_of(header: Any, body: str | bytes = BODY, secret: Any = SECRET) -> str:
    try:
        return verify_webhook(body, header, secret, now=lambda: NOW)["id"]
    except SignatureError as error:
        return error.code


class Webhooks(unittest.TestCase):
    def test_what_the_service_signed_is_accepted(self) -> None:
        two = sign("whsec_old") + "," + sign(SECRET).split(",")[1]
        for header in (sign(SECRET), sign(SECRET, NOW - 299), sign(SECRET, NOW + 299), sign(SECRET) + ",v9=x"):
            self.assertEqual(code_of(header), "evt_1")
        self.assertEqual(code_of(two), "evt_1")
        self.assertEqual(code_of(sign(SECRET), BODY.encode()), "evt_1")
        self.assertEqual(code_of(sign("whsec_old"), secret=[SECRET, "whsec_old"]), "evt_1")

    def test_anything_else_is_refused_with_a_code(self) -> None:
        good = sign(SECRET)
        for header, code in (
            (None, "signature_missing"),
            ("", "signature_missing"),
            ("t=,v1=", "signature_malformed"),
            (f"{good},t=1", "signature_malformed"),
            (good.replace("v1=", "v2="), "signature_malformed"),
            (sign("whsec_other"), "signature_mismatch"),
            (good.replace(f"t={NOW}", f"t={NOW + 1}"), "signature_mismatch"),
            (sign(SECRET, NOW - 301), "timestamp_out_of_tolerance"),
            (sign(SECRET, NOW + 301), "timestamp_out_of_tolerance"),
        ):
            with self.subTest(header):
                self.assertEqual(code_of(header), code)
        self.assertEqual(code_of(good, f"{BODY} "), "signature_mismatch")
        self.assertEqual(code_of(sign(SECRET, body="no JSON"), "no JSON"), "body_malformed")

    def test_all_headers_may_be_passed_in_any_case(self) -> None:
        for name in ("X-Service-Signature", "x-service-signature", "X-SERVICE-SIGNATURE"):
            self.assertEqual(code_of({name: sign(SECRET), "other": "x"}), "evt_1")
        self.assertEqual(code_of({}), "signature_missing")
        self.assertEqual(code_of(standard(SECRET)), "evt_1")
        url_safe = SECRET.replace("+", "-").replace("/", "_").rstrip("=")
        self.assertEqual(code_of(standard(SECRET), secret=url_safe), "evt_1")
        self.assertEqual(code_of(standard(SECRET, NOW - 301)), "timestamp_out_of_tolerance")
        self.assertEqual(code_of({**standard(SECRET), "Webhook-Id": ""}), "signature_malformed")
        self.assertEqual(code_of({**standard(SECRET), "Webhook-Id": "evt_2"}), "signature_mismatch")
        # Its own header decides where there are both.
        self.assertEqual(
            code_of({**standard(SECRET), "X-Service-Signature": sign("whsec_other")}), "signature_mismatch"
        )

    def test_wrong_use_is_refused_at_once(self) -> None:
        for secret in ("", [], ["x", ""], [None]):
            with self.assertRaises(ValueError):
                verify_webhook(BODY, sign(SECRET), secret)  # type: ignore[arg-type]
        with self.assertRaises(ValueError):
            verify_webhook(BODY, standard(SECRET), "whsec_not base64!")
        with self.assertRaises(TypeError):
            verify_webhook({"id": "evt_1"}, sign(SECRET), SECRET)  # type: ignore[arg-type]


if __name__ == "__main__":
    unittest.main()
