<?php

declare(strict_types=1);

namespace Kopeck\Tests;

use Kopeck\AuthenticationException;
use Kopeck\ConnectionException;
use Kopeck\InvalidRequestException;
use Kopeck\KeyStore;
use Kopeck\Kopeck;
use Kopeck\KopeckException;
use Kopeck\NotFoundException;
use Kopeck\PaymentRefusedException;
use Kopeck\PermissionException;
use Kopeck\PositionStore;
use Kopeck\RateLimitException;
use Kopeck\ServiceUnavailableException;
use Kopeck\TimeoutException;

$ok = answer(200, PAYMENT);
$processing = answer(200, ['status' => 'processing'] + PAYMENT);
$pay = fn (Scripted $service) => $service->kopeck->payments->create('https://qr.nspk.ru/AD1', externalId: 'order-42');

return [
    'the backoff doubles from 2 s, at most five times' => function () use ($pay) {
        $service = new Scripted([refusal(503, 'gateway_busy')]);
        thrown(ServiceUnavailableException::class, fn () => $pay($service));
        same([2.0, 4.0, 8.0, 16.0, 32.0], $service->pauses);
        same(6, count($service->requests));
    },
    'it never grows beyond a minute, and jitter only makes it longer' => function () {
        $service = new Scripted([cut()], ['maxRetries' => 8]);
        thrown(ConnectionException::class, fn () => $service->kopeck->ping());
        same([32.0, 60.0, 60.0, 60.0], array_slice($service->pauses, 4));
        $late = new Scripted([cut()], ['maxRetries' => 1, 'random' => fn (): float => 1.0]);
        thrown(ConnectionException::class, fn () => $late->kopeck->ping());
        same([3.0], $late->pauses);
    },
    'Retry-After is respected' => function () use ($pay, $ok) {
        $pauses = ['7' => 7.0, '1' => 2.0, 'Sun, 15 Nov 2026 10:00:30 GMT' => 30.0, 'nonsense' => 2.0];
        foreach ($pauses as $header => $pause) {
            $service = new Scripted([refusal(429, 'rate_limited', headers: ['retry-after' => (string) $header]), $ok]);
            $pay($service);
            same([$pause], $service->pauses);
        }
        $long = new Scripted([refusal(503, 'maintenance', headers: ['retry-after' => '3600'])]);
        same(3600.0, thrown(ServiceUnavailableException::class, fn () => $pay($long))->retryAfter);
        same(1, count($long->requests));
    },
    'a retry has the same key and the same bytes, whatever went wrong before' => function () use ($ok) {
        $service = new Scripted([
            cut(),
            late(),
            refusal(429, 'rate_limited'),
            answer(500, ''),
            answer(502, '<h1>Bad Gateway</h1>'),
            answer(200, '<h1>Welcome to the hotel</h1>'),
            $ok,
        ], ['maxRetries' => 6]);
        $payment = $service->kopeck->payments->create('https://qr', '1.00', metadata: ['cart' => 'два']);
        same(PAYMENT, $payment);
        $first = $service->requests[0];
        same('https://pay.example/base/v1/payments', $first->url);
        same('Bearer svc_test_abc_secret', $first->headers['Authorization']);
        same(1, preg_match('/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/', $first->headers['Idempotency-Key']));
        same('{"qr_url":"https://qr","amount_rub":"1.00","metadata":{"cart":"два"}}', $first->body);
        same(7, count($service->requests));
        foreach ($service->requests as $request) {
            same([$first->body, $first->headers], [$request->body, $request->headers]);
        }
    },
    'no retry is made for a request that must be fixed' => function () use ($pay) {
        foreach ([400, 401, 402, 403, 404, 409, 422] as $status) {
            $service = new Scripted([refusal($status, 'some_code', ['retryable' => true])]);
            try {
                $pay($service);
            } catch (KopeckException $error) {
                same($status, $error->status);
            }
            same(1, count($service->requests));
        }
    },
    'after an internal error only if the service advises it' => function () use ($pay, $ok) {
        $silent = new Scripted([refusal(500, 'internal_error'), $ok]);
        $error = thrown(ServiceUnavailableException::class, fn () => $pay($silent));
        same([false, true], [$error->retryable, $error->sameKey]);
        $advised = new Scripted([refusal(500, 'internal_error', ['retryable' => true]), $ok]);
        $pay($advised);
        same(2, count($advised->requests));
    },
    'no retry is made for the test clock after a lost answer' => function () {
        $moved = answer(200, ['advanced_sec' => 30]);
        $lost = new Scripted([cut(), $moved]);
        thrown(ConnectionException::class, fn () => $lost->kopeck->test->clock->advance(30));
        $refused = new Scripted([refusal(429, 'rate_limited'), $moved]);
        same(['advanced_sec' => 30], $refused->kopeck->test->clock->advance(30));
        same(['{"advance_sec":30}', '{"advance_sec":30}'], array_column($refused->requests, 'body'));
    },
    'a statement that is cut off before its digest is requested again' => function () {
        $whole = "record,number\nopening,\ndigest,sha256:00\n";
        $service = new Scripted([answer(200, "record,number\nopening,\n"), answer(200, $whole)]);
        same($whole, $service->kopeck->statementCsv('2026-11-14'));
        $url = 'https://pay.example/base/v1/statement?day=2026-11-14&format=csv';
        same([$url, $url], $service->urls());
    },
    'the class of an exception follows the status' => function () use ($pay) {
        $classes = [
            [401, 'unauthorized', AuthenticationException::class],
            [403, 'partner_suspended', PermissionException::class],
            [400, 'amount_mismatch', InvalidRequestException::class],
            [422, 'qr_unresolvable', InvalidRequestException::class],
            [402, 'insufficient_balance', PaymentRefusedException::class],
            [409, 'duplicate_qr_in_flight', PaymentRefusedException::class],
            [404, 'not_found', NotFoundException::class],
            [429, 'rate_limited', RateLimitException::class],
            [503, 'maintenance', ServiceUnavailableException::class],
            [500, 'internal_error', ServiceUnavailableException::class],
            [418, 'teapot', KopeckException::class],
        ];
        foreach ($classes as [$status, $code, $class]) {
            $error = thrown($class, fn () => $pay(new Scripted([refusal($status, $code)])));
            same([$code, $status, 'req_1', "about $code"], [
                $error->errorCode,
                $error->status,
                $error->requestId,
                $error->getMessage(),
            ]);
            same([$status === 429 || $status === 503, true], [$error->retryable, $error->sameKey]);
            same(36, strlen((string) $error->idempotencyKey));
        }
        same('timeout', thrown(TimeoutException::class, fn () => $pay(new Scripted([late()])))->errorCode);
        $moved = thrown(KopeckException::class, fn () => $pay(new Scripted([answer(302, '')])));
        same('http_302', $moved->errorCode);
    },
    'exceptions follow the advice of the service' => function () use ($pay) {
        $advised = fn (array $extra, string $code = 'qr_changed') => thrown(
            PaymentRefusedException::class,
            fn () => $pay(new Scripted([refusal(409, $code, $extra)])),
        );
        $error = $advised(['retryable' => true, 'same_key' => true]);
        same([true, true], [$error->retryable, $error->sameKey]);
        same(false, $advised(['same_key' => false])->sameKey);
        same(false, $advised([], 'idempotency_conflict')->sameKey);
    },
    'they name the malformed fields and the missing balance' => function () use ($pay) {
        $detail = [['loc' => ['body', 'qr_url'], 'msg' => 'Field required', 'type' => 'missing']];
        $malformed = thrown(
            InvalidRequestException::class,
            fn () => $pay(new Scripted([answer(422, ['detail' => $detail])])),
        );
        same(['malformed_request', 'body.qr_url: Field required', $detail], [
            $malformed->errorCode,
            $malformed->getMessage(),
            $malformed->details,
        ]);
        $lacking = ['required_usdt' => '1.081082', 'balance_usdt' => '0.500000'];
        $refused = thrown(
            PaymentRefusedException::class,
            fn () => $pay(new Scripted([refusal(402, 'insufficient_balance', $lacking)])),
        );
        same(['1.081082', '0.500000'], [$refused->requiredUsdt, $refused->balanceUsdt]);
    },
    'nothing that is printed shows the key' => function () {
        $service = new Scripted([refusal(401, 'unauthorized')]);
        $error = thrown(AuthenticationException::class, fn () => $service->kopeck->ping());
        $plain = new Kopeck('svc_test_abc_secret', 'https://pay.example');
        same(false, str_contains(print_r([$plain, $service->requests], true) . $error, 'abc_secret'));
    },
    'wrong use is refused at once' => function () use ($ok) {
        foreach ([['', 'https://x'], ["svc_test_a\nb", 'https://x'], ['svc_test_a', 'pay.example']] as [$key, $url]) {
            thrown(\InvalidArgumentException::class, fn () => new Kopeck($key, $url));
        }
        $payments = (new Scripted([$ok]))->kopeck->payments;
        thrown(\InvalidArgumentException::class, fn () => $payments->create('https://qr', idempotencyKey: 'ключ'));
    },
    'an order keeps its key until its payment has failed' => function () use ($pay, $ok) {
        $service = new Scripted([$ok, $ok, answer(200, ['status' => 'failed'] + PAYMENT), $ok]);
        for ($nth = 0; $nth < 4; $nth++) {
            $pay($service);
        }
        [$first, $second, $third, $fourth] = $service->keys();
        same([$first, $first], [$second, $third]);
        same(false, $first === $fourth);
    },
    'without an external id every call is a payment; a given key is kept' => function () use ($ok) {
        $service = new Scripted([$ok]);
        $service->kopeck->payments->create('https://qr');
        $service->kopeck->payments->create('https://qr');
        same(2, count(array_unique($service->keys())));
        $given = new Scripted([$ok]);
        $given->kopeck->payments->create('https://qr', externalId: '42', idempotencyKey: 'mine');
        $given->kopeck->payments->create('https://qr', externalId: '42');
        same(['mine', 'mine'], $given->keys());
    },
    'a store has the key before anything is sent, and for the next client' => function () use ($pay, $ok) {
        $store = new class implements KeyStore {
            /** @var array<string, string> */
            public array $kept = [];

            public function get(string $externalId): ?string
            {
                return $this->kept[$externalId] ?? null;
            }

            public function set(string $externalId, string $key): void
            {
                $this->kept[$externalId] = $key;
            }
        };
        $before = new Scripted([cut()], ['maxRetries' => 0, 'keys' => $store]);
        thrown(ConnectionException::class, fn () => $pay($before));
        $after = new Scripted([$ok], ['keys' => $store]);
        $pay($after);
        same([$store->kept['order-42']], $after->keys());
        same($before->keys(), $after->keys());
    },
    'waiting polls with backoff until the outcome, or ends in time without an exception' =>
        function () use ($ok, $processing) {
            $service = new Scripted([$processing, $processing, cut(), $ok], ['maxRetries' => 0]);
            same('succeeded', $service->kopeck->payments->createAndWait('https://qr')['status']);
            same([1.0, 1.5, 2.25], $service->pauses);
            $slow = new Scripted([$processing]);
            same('processing', $slow->kopeck->payments->createAndWait('https://qr', wait: 5)['status']);
            same(5.0, array_sum($slow->pauses));
        },
    'an id is one part of the path' => function () use ($ok) {
        $service = new Scripted([$ok]);
        $service->kopeck->payments->get('../ping');
        same(['https://pay.example/base/v1/payments/..%2Fping'], $service->urls());
    },
    'empty metadata are an object' => function () use ($ok) {
        $service = new Scripted([$ok]);
        $service->kopeck->payments->create('https://qr', metadata: []);
        same('{"qr_url":"https://qr","metadata":{}}', $service->requests[0]->body);
    },
    'the list goes over all pages' => function () {
        $page = fn (array $ids, ?string $after) => answer(200, [
            'data' => array_map(fn (string $id) => ['id' => $id], $ids),
            'has_more' => $after !== null,
            'next_cursor' => $after,
        ]);
        $service = new Scripted([$page(['c', 'b'], 'b'), $page(['a'], null)]);
        $since = new \DateTimeImmutable('2026-11-15T03:00:00+03:00');
        $found = $service->kopeck->payments->list('failed', createdAfter: $since, limit: 2);
        same(['c', 'b', 'a'], array_column(iterator_to_array($found, false), 'id'));
        $query = 'status=failed&created_after=2026-11-15T00%3A00%3A00.000Z&limit=2';
        $base = 'https://pay.example/base/v1/payments';
        same(["$base?$query", "$base?starting_after=b&$query"], $service->urls());
    },
    'an event is handled when the loop asks for the next' => function () {
        $page = fn (array $ids) => answer(200, [
            'data' => array_map(fn (string $id) => ['id' => $id], $ids),
            'has_more' => false,
            'next_cursor' => end($ids),
        ]);
        $store = new class implements PositionStore {
            /** @var list<string> */
            public array $saved = [];

            public function load(): ?string
            {
                return end($this->saved) ?: null;
            }

            public function save(string $eventId): void
            {
                $this->saved[] = $eventId;
            }
        };
        $service = new Scripted([$page(['evt_1', 'evt_2'])]);
        foreach ($service->kopeck->events->read($store, follow: false) as $event) {
            if ($event['id'] === 'evt_2') {
                break;
            }
        }
        same(['evt_1'], $store->saved);
        $again = new Scripted([$page(['evt_2'])]);
        same(1, iterator_count($again->kopeck->events->read($store, follow: false)));
        same(['https://pay.example/base/v1/events?after=evt_1&limit=100'], $again->urls());
        same(['evt_1', 'evt_2'], $store->saved);
    },
    'following waits and survives failures' => function () {
        $page = fn (array $data, string $cursor) => answer(200, [
            'data' => $data,
            'has_more' => false,
            'next_cursor' => $cursor,
        ]);
        $steps = [$page([], 'evt_7'), refusal(503, 'maintenance'), $page([['id' => 'evt_8']], 'evt_8')];
        $service = new Scripted($steps, ['maxRetries' => 0]);
        $codes = [];
        $note = function (KopeckException $error) use (&$codes): void {
            $codes[] = $error->errorCode;
        };
        foreach ($service->kopeck->events->read(start: 'latest', onError: $note) as $event) {
            same('evt_8', $event['id']);
            break;
        }
        same(['maintenance'], $codes);
        same([2.0, 2.0], $service->pauses);
        $base = 'https://pay.example/base/v1/events';
        same(["$base?after=latest&limit=100", "$base?after=evt_7&limit=100"], array_slice($service->urls(), 0, 2));
        same([], iterator_to_array($service->kopeck->events->read(isStopped: fn (): bool => true)));
    },
];
