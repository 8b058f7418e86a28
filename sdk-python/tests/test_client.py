from __future__ import annotations

import json
import threading
import unittest
from datetime import datetime, timezone
from decimal import Decimal
from unittest import mock

import kopeck
from tests.fake import PAYMENT, Scripted, answer, cut, late, refusal

OK = answer(200, PAYMENT)
PARAMS = {"qr_url": "https://qr.nspk.ru/AD1", "external_id": "order-42"}
PROCESSING = answer(200, {**PAYMENT, "status": "processing"})
FAILED = answer(200, {**PAYMENT, "status": "failed"})
without_jitter = mock.patch("random.random", return_value=0)


class Retries(unittest.TestCase):
    def test_backoff_doubles_from_2_s_at_most_five_times(self) -> None:
        with without_jitter:
            service = Scripted(refusal(503, "gateway_busy"))
            with self.assertRaises(kopeck.ServiceUnavailableError):
                service.kopeck.payments.create(**PARAMS)
        self.assertEqual(service.pauses, [2, 4, 8, 16, 32])
        self.assertEqual(len(service.requests), 6)

    def test_backoff_never_grows_beyond_a_minute(self) -> None:
        with without_jitter:
            service = Scripted(cut, max_retries=8)
            with self.assertRaises(kopeck.ConnectionFailedError):
                service.kopeck.ping()
        self.assertEqual(service.pauses[4:], [32, 60, 60, 60])

    def test_jitter_only_makes_it_longer(self) -> None:
        firsts = []
        for _ in range(200):
            service = Scripted(refusal(429, "rate_limited"), OK)
            service.kopeck.payments.create(**PARAMS)
            firsts.append(service.pauses[0])
        self.assertGreaterEqual(min(firsts), 2)
        self.assertLess(max(firsts), 3)
        self.assertGreater(max(firsts) - min(firsts), 0.5)

    def test_retry_after_is_respected(self) -> None:
        for header, pause in (
            ("7", 7),
            ("1", 2),
            ("Sun, 15 Nov 2026 10:00:30 GMT", 30),
            ("nonsense", 2),
        ):
            with self.subTest(header), without_jitter:
                service = Scripted(refusal(429, "rate_limited", headers={"retry-after": header}), OK)
                service.kopeck.payments.create(**PARAMS)
                self.assertEqual(service.pauses, [pause])

    def test_a_longer_retry_after_than_a_minute_is_left_to_the_caller(self) -> None:
        service = Scripted(refusal(503, "maintenance", headers={"retry-after": "3600"}))
        with self.assertRaises(kopeck.ServiceUnavailableError) as caught:
            service.kopeck.payments.create(**PARAMS)
        self.assertEqual((caught.exception.retry_after, caught.exception.retryable), (3600, True))
        self.assertEqual(len(service.requests), 1)

    def test_a_retry_has_the_same_key_and_the_same_bytes(self) -> None:
        service = Scripted(
            cut,
            late,
            refusal(429, "rate_limited"),
            answer(500, ""),
            answer(502, "<h1>Bad Gateway</h1>"),
            answer(200, "<h1>Welcome to the hotel</h1>"),
            OK,
            max_retries=6,
        )
        self.assertEqual(service.kopeck.payments.create(**PARAMS, metadata={"cart": "два"}), PAYMENT)
        self.assertEqual(len(service.requests), 7)
        first = service.requests[0]
        self.assertEqual(first.url, "https://pay.example/base/v1/payments")
        self.assertRegex(first.headers["Idempotency-Key"], r"^[0-9a-f-]{36}$")
        self.assertEqual(first.headers["Authorization"], "Bearer svc_test_abc_secret")
        self.assertEqual(json.loads(first.body or b""), {**PARAMS, "metadata": {"cart": "два"}})
        for request in service.requests:
            self.assertEqual(request, first)

    def test_none_is_made_for_a_request_that_must_be_fixed(self) -> None:
        for status in (400, 401, 402, 403, 404, 409, 422):
            service = Scripted(refusal(status, "some_code", {"retryable": True}))
            with self.subTest(status), self.assertRaises(kopeck.KopeckError):
                service.kopeck.payments.create(**PARAMS)
            self.assertEqual(len(service.requests), 1)

    def test_after_an_internal_error_only_if_the_service_advises_it(self) -> None:
        silent = Scripted(refusal(500, "internal_error"), OK)
        with self.assertRaises(kopeck.ServiceUnavailableError) as caught:
            silent.kopeck.payments.create(**PARAMS)
        self.assertEqual((caught.exception.retryable, caught.exception.same_key), (False, True))
        advised = Scripted(refusal(500, "internal_error", {"retryable": True}), OK)
        advised.kopeck.payments.create(**PARAMS)
        self.assertEqual(len(advised.requests), 2)

    def test_none_is_made_for_the_test_clock_after_a_lost_answer(self) -> None:
        moved = answer(200, {"advanced_sec": 30})
        lost = Scripted(cut, moved)
        with self.assertRaises(kopeck.ConnectionFailedError):
            lost.kopeck.test.clock.advance(seconds=30)
        refused = Scripted(refusal(429, "rate_limited"), moved)
        self.assertEqual(refused.kopeck.test.clock.advance(seconds=30), {"advanced_sec": 30})
        self.assertEqual([one.body for one in refused.requests], [b'{"advance_sec":30}'] * 2)

    def test_a_statement_that_is_cut_off_before_its_digest_is_requested_again(self) -> None:
        whole = "record,number\nopening,\ndigest,sha256:00\n"
        service = Scripted(answer(200, "record,number\nopening,\n"), answer(200, whole))
        self.assertEqual(service.kopeck.statement(day="2026-11-14", format="csv"), whole)
        url = "https://pay.example/base/v1/statement?day=2026-11-14&format=csv"
        self.assertEqual([one.url for one in service.requests], [url, url])


class Errors(unittest.TestCase):
    def test_their_classes_follow_the_status(self) -> None:
        for status, code, kind in (
            (401, "unauthorized", kopeck.AuthenticationError),
            (403, "partner_suspended", kopeck.PermissionDeniedError),
            (400, "amount_mismatch", kopeck.InvalidRequestError),
            (422, "qr_unresolvable", kopeck.InvalidRequestError),
            (402, "insufficient_balance", kopeck.PaymentRefusedError),
            (409, "duplicate_qr_in_flight", kopeck.PaymentRefusedError),
            (404, "not_found", kopeck.NotFoundError),
            (429, "rate_limited", kopeck.RateLimitError),
            (503, "maintenance", kopeck.ServiceUnavailableError),
            (500, "internal_error", kopeck.ServiceUnavailableError),
            (418, "teapot", kopeck.KopeckError),
            (302, "http_302", kopeck.KopeckError),
        ):
            step = answer(302, "") if status == 302 else refusal(status, code)
            with self.subTest(status), self.assertRaises(kopeck.KopeckError) as caught:
                Scripted(step).kopeck.payments.create(**PARAMS)
            error = caught.exception
            self.assertIs(type(error), kind)
            self.assertEqual((error.code, error.status), (code, status))
            self.assertEqual(error.retryable, status in (429, 503))
            self.assertTrue(error.same_key)
            self.assertRegex(error.idempotency_key or "", r"^[0-9a-f-]{36}$")
            if status != 302:
                self.assertEqual((str(error), error.request_id), (f"about {code}", "req_1"))

    def test_a_late_answer_has_a_class_of_its_own(self) -> None:
        with self.assertRaises(kopeck.TimedOutError) as caught:
            Scripted(late).kopeck.payments.create(**PARAMS)
        self.assertEqual((caught.exception.code, caught.exception.same_key), ("timeout", True))

    def test_they_follow_the_advice_of_the_service(self) -> None:
        for extra, advice in (
            ({"retryable": True, "same_key": True}, (True, True)),
            ({"same_key": False}, (False, False)),
        ):
            with self.assertRaises(kopeck.PaymentRefusedError) as caught:
                Scripted(refusal(409, "qr_changed", extra)).kopeck.payments.create(**PARAMS)
            self.assertEqual((caught.exception.retryable, caught.exception.same_key), advice)
        with self.assertRaises(kopeck.PaymentRefusedError) as caught:
            Scripted(refusal(409, "idempotency_conflict")).kopeck.payments.create(**PARAMS)
        self.assertFalse(caught.exception.same_key)

    def test_they_name_the_malformed_fields_and_the_missing_balance(self) -> None:
        detail = [{"loc": ["body", "qr_url"], "msg": "Field required", "type": "missing"}]
        with self.assertRaises(kopeck.InvalidRequestError) as malformed:
            Scripted(answer(422, {"detail": detail})).kopeck.payments.create(**PARAMS)
        self.assertEqual(malformed.exception.code, "malformed_request")
        self.assertEqual(str(malformed.exception), "body.qr_url: Field required")
        self.assertEqual(malformed.exception.details, detail)
        lacking = {"required_usdt": "1.081082", "balance_usdt": "0.500000"}
        with self.assertRaises(kopeck.PaymentRefusedError) as refused:
            Scripted(refusal(402, "insufficient_balance", lacking)).kopeck.payments.create(**PARAMS)
        self.assertEqual(refused.exception.required_usdt, "1.081082")
        self.assertEqual(refused.exception.balance_usdt, "0.500000")

    def test_neither_they_nor_a_request_show_the_key(self) -> None:
        service = Scripted(refusal(401, "unauthorized"))
        with self.assertRaises(kopeck.AuthenticationError) as caught:
            service.kopeck.ping()
        shown = f"{caught.exception!r} {caught.exception.__dict__} {service.kopeck!r} {service.requests}"
        self.assertNotIn("abc_secret", shown)

    def test_wrong_use_is_refused_at_once(self) -> None:
        for key, url in (("", "https://x"), ("svc_test_a\nb", "https://x"), ("svc_test_a", "pay.example")):
            with self.assertRaises(ValueError):
                kopeck.Kopeck(key, url)
        with self.assertRaises(ValueError):
            Scripted(OK).kopeck.payments.create(**PARAMS, idempotency_key="ключ")


class Payments(unittest.TestCase):
    def keys_of(self, service: Scripted) -> list[str]:
        return [one.headers["Idempotency-Key"] for one in service.requests]

    def test_an_order_keeps_its_key_until_its_payment_has_failed(self) -> None:
        service = Scripted(OK, OK, FAILED, OK)
        for _ in range(4):
            service.kopeck.payments.create(**PARAMS)
        first, second, third, fourth = self.keys_of(service)
        self.assertEqual({first, second, third}, {first})
        self.assertNotEqual(fourth, first)

    def test_without_an_external_id_every_call_is_a_payment(self) -> None:
        service = Scripted(OK)
        for _ in range(2):
            service.kopeck.payments.create(qr_url="https://qr.nspk.ru/AD1")
        self.assertEqual(len(set(self.keys_of(service))), 2)

    def test_a_given_key_is_used_and_kept(self) -> None:
        service = Scripted(OK)
        service.kopeck.payments.create(**PARAMS, idempotency_key="mine")
        service.kopeck.payments.create(**PARAMS)
        self.assertEqual(self.keys_of(service), ["mine", "mine"])

    def test_a_store_has_the_key_before_anything_is_sent_and_after_a_restart(self) -> None:
        stored: dict[str, str] = {}

        class Store:
            def get(self, external_id: str) -> str | None:
                return stored.get(external_id)

            def set(self, external_id: str, key: str) -> None:
                stored[external_id] = key

        before = Scripted(cut, max_retries=0, keys=Store())
        with self.assertRaises(kopeck.ConnectionFailedError):
            before.kopeck.payments.create(**PARAMS)
        after = Scripted(OK, keys=Store())
        after.kopeck.payments.create(**PARAMS)
        self.assertEqual(self.keys_of(after), [stored["order-42"]])
        self.assertEqual(self.keys_of(before), self.keys_of(after))

    def test_threads_that_pay_one_order_share_its_key(self) -> None:
        service = Scripted(OK)
        threads = [
            threading.Thread(target=service.kopeck.payments.create, kwargs=PARAMS) for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(set(self.keys_of(service))), 1)

    def test_waiting_polls_with_backoff_until_the_outcome(self) -> None:
        service = Scripted(PROCESSING, PROCESSING, cut, OK, max_retries=0)
        payment = service.kopeck.payments.create_and_wait(**PARAMS)
        self.assertEqual(payment["status"], "succeeded")
        self.assertEqual(service.pauses, [1.0, 1.5, 2.25])

    def test_waiting_ends_in_time_without_an_error(self) -> None:
        service = Scripted(PROCESSING)
        payment = service.kopeck.payments.create_and_wait(**PARAMS, wait=5)
        self.assertEqual(payment["status"], "processing")
        self.assertEqual(sum(service.pauses), 5)

    def test_an_id_is_one_part_of_the_path(self) -> None:
        service = Scripted(OK)
        service.kopeck.payments.get("../ping")
        self.assertEqual(service.requests[0].url, "https://pay.example/base/v1/payments/..%2Fping")

    def test_amounts_are_sent_as_they_are(self) -> None:
        for amount, sent in ((Decimal("305.10"), "305.10"), (Decimal("300.00").normalize(), "300")):
            service = Scripted(OK)
            service.kopeck.payments.create(qr_url="https://qr", amount_rub=amount)
            self.assertEqual(json.loads(service.requests[0].body or b"")["amount_rub"], sent)

    def test_the_list_goes_over_all_pages(self) -> None:
        def page(ids: list[str], after: str | None) -> object:
            return {"data": [{"id": one} for one in ids], "has_more": after is not None, "next_cursor": after}

        service = Scripted(answer(200, page(["c", "b"], "b")), answer(200, page(["a"], None)))
        since = datetime(2026, 11, 15, tzinfo=timezone.utc)
        found = service.kopeck.payments.list(status="failed", created_after=since, limit=2)
        self.assertEqual([one["id"] for one in found], ["c", "b", "a"])
        query = "status=failed&created_after=2026-11-15T00%3A00%3A00Z&limit=2"
        base = "https://pay.example/base/v1/payments"
        self.assertEqual(
            [one.url for one in service.requests], [f"{base}?{query}", f"{base}?{query}&starting_after=b"]
        )


class Events(unittest.TestCase):
    def page(self, ids: list[str], cursor: str, has_more: bool = False) -> object:
        data = [{"id": one, "event": "payment.succeeded", "data": PAYMENT} for one in ids]
        return {"data": data, "has_more": has_more, "next_cursor": cursor}

    def test_an_event_is_handled_when_the_loop_asks_for_the_next(self) -> None:
        saved: list[str] = []

        class Store:
            def load(self) -> str | None:
                return saved[-1] if saved else None

            def save(self, event_id: str) -> None:
                saved.append(event_id)

        steps = [answer(200, self.page(["evt_1", "evt_2"], "evt_2"))]
        for event in Scripted(*steps).kopeck.events.read(store=Store(), follow=False):
            if event["id"] == "evt_2":
                break
        self.assertEqual(saved, ["evt_1"])
        again = Scripted(answer(200, self.page(["evt_2"], "evt_2")))
        self.assertEqual([one["id"] for one in again.kopeck.events.read(store=Store(), follow=False)], ["evt_2"])
        self.assertIn("after=evt_1", again.requests[0].url)
        self.assertEqual(saved, ["evt_1", "evt_2"])

    def test_following_waits_and_survives_failures(self) -> None:
        stop = threading.Event()
        codes: list[str] = []
        service = Scripted(
            answer(200, self.page([], "evt_7")),
            refusal(503, "maintenance"),
            answer(200, self.page(["evt_8"], "evt_8")),
            max_retries=0,
        )
        with without_jitter:
            for event in service.kopeck.events.read(
                start="latest", on_error=lambda error: codes.append(error.code)
            ):
                self.assertEqual(event["id"], "evt_8")
                break
        self.assertEqual(codes, ["maintenance"])
        self.assertEqual(service.pauses, [2, 2])
        self.assertIn("after=latest", service.requests[0].url)
        self.assertIn("after=evt_7", service.requests[1].url)
        stop.set()
        self.assertEqual(list(service.kopeck.events.read(stop=stop)), [])


if __name__ == "__main__":
    unittest.main()
