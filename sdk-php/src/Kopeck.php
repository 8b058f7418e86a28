<?php

declare(strict_types=1);

namespace Kopeck;

/**
 * The partner API. Fields have the names of the contract; amounts are decimal strings, never floats.
 *
 * @phpstan-type Payment array{
 *     id: string, object: 'payment', mode: 'live'|'test', status: 'processing'|'succeeded'|'failed',
 *     status_detail: 'awaiting_gateway'|'manual_review'|'gateway_declined'|null, external_id: ?string,
 *     recipient: string, amount_rub: string, amount_usdt: string, rate: string, currency: 'RUB',
 *     settlement_currency: 'USDT', created_at: string, settled_at: ?string,
 *     error: ?array{code: string, message: string}, refunded_rub?: string, refunded_usdt?: string,
 *     metadata: array<string, mixed>
 * }
 * @phpstan-type PaymentEvent array{
 *     id: string, event: 'payment.succeeded'|'payment.failed'|'payment.refunded', created_at: string, data: Payment
 * }
 */
final class Kopeck
{
    public readonly Payments $payments;
    public readonly Events $events;
    public readonly Qr $qr;
    /** For test keys only. */
    public readonly Test $test;
    private readonly Transport $transport;

    /**
     * @param string $apiKey `svc_test_…` or `svc_live_…`. It can spend money: keep it on your server.
     * @param string $baseUrl Where the service is, such as `https://pay.example.com`.
     * @param ?KeyStore $keys Stores the idempotency key of each order, so that the next request has the same key.
     * @param int $maxRetries How often a request is retried at most; five retries take about a minute.
     * @param float $timeout How many seconds one attempt may take; an answer may take 90 s.
     * @param ?Http $http Instead of curl.
     * @param ?\Closure(float): void $sleep For tests; so are `$now` (Unix seconds) and `$random` (from 0 to 1).
     * @param ?\Closure(): float $now
     * @param ?\Closure(): float $random
     */
    public function __construct(
        #[\SensitiveParameter] string $apiKey,
        string $baseUrl,
        ?KeyStore $keys = null,
        int $maxRetries = 5,
        float $timeout = 95,
        ?Http $http = null,
        ?\Closure $sleep = null,
        ?\Closure $now = null,
        ?\Closure $random = null,
    ) {
        $this->transport = new Transport(
            $apiKey,
            $baseUrl,
            $maxRetries,
            $timeout,
            $http ?? new CurlHttp(),
            $sleep ?? fn (float $seconds) => usleep((int) ($seconds * 1_000_000)),
            $now ?? fn (): float => microtime(true),
            $random ?? fn (): float => mt_rand() / mt_getrandmax(),
        );
        $this->payments = new Payments($this->transport, new Keys($keys));
        $this->events = new Events($this->transport);
        $this->qr = new Qr($this->transport);
        $this->test = new Test($this->transport);
    }

    /**
     * The partner and the mode of the key.
     *
     * @return array{ok: bool, partner_id: string, mode: 'live'|'test', api_version: string, request_id: string}
     */
    public function ping(): array
    {
        return $this->transport->json('GET', 'ping');
    }

    /** @return array{balance_usdt: string, currency: 'USDT', request_id: string} */
    public function balance(): array
    {
        return $this->transport->json('GET', 'balance');
    }

    /** @return array{pair: string, rate: string, as_of: int, max_age_sec: int, stale: bool, request_id: string} */
    public function rate(): array
    {
        return $this->transport->json('GET', 'rate');
    }

    /**
     * What would be debited now for an amount in rubles. With `lock` the rate is kept: pay with its `quote_id`.
     *
     * @return array{
     *     amount_rub: string, amount_usdt: string, rate: string, pair: string, fee_rub: string, as_of: int,
     *     max_age_sec: int, stale: bool, quote_id?: string, expires_at?: string, request_id: string
     * }
     */
    public function quote(string|int $amountRub, ?bool $lock = null): array
    {
        return $this->transport->json('POST', 'quote', body: ['amount_rub' => $amountRub, 'lock' => $lock]);
    }

    /**
     * The statement of a day (`YYYY-MM-DD`, in UTC). Once the day is over, it never changes, not by a byte.
     *
     * @return array<string, mixed>
     */
    public function statement(string $day): array
    {
        return $this->transport->json('GET', 'statement', ['day' => $day, 'format' => 'json']);
    }

    /** The same as the text of a CSV file. */
    public function statementCsv(string $day): string
    {
        // The digest is its last line.
        $end = '/(?:^|\n)digest,[^\n]*\n\z/';
        return $this->transport->text('statement', $end, ['day' => $day, 'format' => 'csv']);
    }
}

final class Qr
{
    /** @internal */
    public function __construct(private readonly Transport $transport)
    {
    }

    /**
     * The recipient and the amount of a QR code; nothing is debited.
     *
     * @return array{
     *     qrc_id: string, recipient: string, amount_rub: string, currency: 'RUB', purpose: string, payable: bool,
     *     request_id: string
     * }
     */
    public function resolve(string $qrUrl): array
    {
        return $this->transport->json('POST', 'qr/resolve', body: ['qr_url' => $qrUrl]);
    }
}

final class Test
{
    public readonly TestClock $clock;
    public readonly TestDeposits $deposits;

    /** @internal */
    public function __construct(Transport $transport)
    {
        $this->clock = new TestClock($transport);
        $this->deposits = new TestDeposits($transport);
    }
}

final class TestClock
{
    /** @internal */
    public function __construct(private readonly Transport $transport)
    {
    }

    /**
     * Moves the test clock: outcomes, webhook retries and the two-hour review come so much earlier.
     *
     * @return array{object: 'test_clock', advanced_sec: int, request_id: string}
     */
    public function advance(int $seconds): array
    {
        // Repeated after a lost answer, it would move the clock twice.
        return $this->transport->json('POST', 'test/clock', body: ['advance_sec' => $seconds], repeatable: false);
    }

    /** @return array{object: 'test_clock', advanced_sec: int, request_id: string} */
    public function get(): array
    {
        return $this->transport->json('GET', 'test/clock');
    }
}

final class TestDeposits
{
    /** @internal */
    public function __construct(private readonly Transport $transport)
    {
    }

    /**
     * Credits the test balance, once per `reference`.
     *
     * @return array{object: 'test_deposit', reference: string, amount_usdt: string, balance_usdt: string, request_id: string}
     */
    public function create(string $amountUsdt, string $reference): array
    {
        $body = ['amount_usdt' => $amountUsdt, 'reference' => $reference];
        return $this->transport->json('POST', 'test/deposits', body: $body);
    }
}
