<?php

declare(strict_types=1);

namespace Kopeck;

/**
 * All matching payments, newest first: `foreach ($list as $payment)`.
 *
 * @phpstan-import-type Payment from Kopeck
 * @implements \IteratorAggregate<int, Payment>
 */
final class PaymentList implements \IteratorAggregate
{
    /**
     * @param array<string, mixed> $query
     * @internal
     */
    public function __construct(private readonly Transport $transport, private readonly array $query)
    {
    }

    /**
     * Only the first page; `next_cursor` goes into `startingAfter` of the next.
     *
     * @return array{data: list<Payment>, has_more: bool, next_cursor: ?string, request_id: string}
     */
    public function page(): array
    {
        return $this->pageAfter($this->query['starting_after']);
    }

    /** @return \Generator<int, Payment> */
    public function getIterator(): \Generator
    {
        // The cursor is a payment, not an offset: payments created meanwhile shift nothing.
        $after = $this->query['starting_after'];
        do {
            $page = $this->pageAfter($after);
            foreach ($page['data'] as $payment) {
                yield $payment;
            }
            $after = $page['next_cursor'];
        } while ($page['has_more'] && $after !== null);
    }

    /** @return array<string, mixed> */
    private function pageAfter(?string $after): array
    {
        return $this->transport->json('GET', 'payments', ['starting_after' => $after] + $this->query);
    }
}

/** @phpstan-import-type Payment from Kopeck */
final class Payments
{
    private const FIRST_POLL = 1.0;
    private const MAX_POLL = 10.0;

    /** @internal */
    public function __construct(private readonly Transport $transport, private readonly Keys $keys)
    {
    }

    /**
     * Pays a QR code once, however often the request is retried. The payment may still be `processing`.
     *
     * @param ?array<string, mixed> $metadata
     * @return Payment
     */
    public function create(
        string $qrUrl,
        string|int|null $amountRub = null,
        ?string $externalId = null,
        ?array $metadata = null,
        ?string $quoteId = null,
        ?string $idempotencyKey = null,
    ): array {
        if ($idempotencyKey !== null && preg_match('/^[\x20-\x7e]{1,255}\z/', $idempotencyKey) !== 1) {
            throw new \InvalidArgumentException('idempotencyKey must be 1 to 255 printable ASCII characters');
        }
        $body = [
            'qr_url' => $qrUrl,
            'amount_rub' => $amountRub,
            'external_id' => $externalId,
            // An empty array would become a list.
            'metadata' => $metadata === [] ? new \stdClass() : $metadata,
            'quote_id' => $quoteId,
        ];
        $key = $this->keys->take($externalId, $idempotencyKey);
        $payment = $this->transport->json('POST', 'payments', body: $body, idempotencyKey: $key);
        if ($payment['status'] === 'failed') {
            $this->keys->failed($externalId);
        }
        return $payment;
    }

    /**
     * Pays and waits for the outcome. After `$wait` seconds it returns the payment as it is: `processing` is not a refusal, so it
     * is no exception. Do not pay again and do not refund; the outcome comes with the webhook or a later `get`.
     *
     * @param ?array<string, mixed> $metadata
     * @return Payment
     */
    public function createAndWait(
        string $qrUrl,
        string|int|null $amountRub = null,
        ?string $externalId = null,
        ?array $metadata = null,
        ?string $quoteId = null,
        ?string $idempotencyKey = null,
        float $wait = 120,
    ): array {
        $payment = $this->create($qrUrl, $amountRub, $externalId, $metadata, $quoteId, $idempotencyKey);
        return $this->waitFrom($payment, $wait);
    }

    /**
     * Waits for the outcome of a payment; after `$wait` seconds it may still be `processing`.
     *
     * @return Payment
     */
    public function wait(string $paymentId, float $wait = 120): array
    {
        return $this->waitFrom($this->get($paymentId), $wait);
    }

    /** @return Payment */
    public function get(string $paymentId): array
    {
        return $this->transport->json('GET', 'payments/' . rawurlencode($paymentId));
    }

    public function list(
        ?string $status = null,
        ?string $externalId = null,
        string|\DateTimeInterface|null $createdAfter = null,
        string|\DateTimeInterface|null $createdBefore = null,
        ?int $limit = null,
        ?string $startingAfter = null,
    ): PaymentList {
        return new PaymentList($this->transport, [
            'status' => $status,
            'external_id' => $externalId,
            'created_after' => $createdAfter,
            'created_before' => $createdBefore,
            'limit' => $limit,
            'starting_after' => $startingAfter,
        ]);
    }

    /**
     * Polls with backoff. A service that cannot be reached for a while does not end the wait.
     *
     * @param Payment $payment
     * @return Payment
     */
    private function waitFrom(array $payment, float $wait): array
    {
        $until = $this->transport->now() + $wait;
        for ($pause = self::FIRST_POLL; $payment['status'] === 'processing'; $pause *= 1.5) {
            $left = $until - $this->transport->now();
            if ($left <= 0) {
                break;
            }
            $this->transport->sleep(min($pause, self::MAX_POLL, $left));
            try {
                $payment = $this->get($payment['id']);
            } catch (KopeckException $error) {
                if (!Retries::isDue($error, true)) {
                    throw $error;
                }
            }
        }
        return $payment;
    }
}
