<?php

declare(strict_types=1);

namespace Kopeck;

/** Stores the idempotency keys of orders, so that the next request of the same order has the same key. */
interface KeyStore
{
    public function get(string $externalId): ?string;

    /** The payment is sent only after this has stored the key. */
    public function set(string $externalId, string $key): void;
}

/**
 * One key per order, also when the program calls `create` again: calling twice never pays twice. A client forgets the key when
 * the payment has failed. Keys outlive the client only in a store, where they stay.
 *
 * @internal
 */
final class Keys
{
    /** Enough for recent orders; for more, use a store. */
    private const MAX_REMEMBERED = 10_000;

    /** @var array<string, string> */
    private array $open = [];

    public function __construct(private readonly ?KeyStore $store)
    {
    }

    /** The key to send for this order. */
    public function take(?string $externalId, ?string $given): string
    {
        if ($externalId === null) {
            return $given ?? self::newKey();
        }
        if ($given !== null) {
            return $this->remember($externalId, $this->keep($externalId, $given));
        }
        return $this->open[self::nameOf($externalId)] ?? $this->remember($externalId, $this->find($externalId));
    }

    /** The payment of this order has failed: the next one is a new payment with a new key. */
    public function failed(?string $externalId): void
    {
        if ($externalId !== null) {
            unset($this->open[self::nameOf($externalId)]);
        }
    }

    private function find(string $externalId): string
    {
        return $this->store?->get($externalId) ?? $this->keep($externalId, self::newKey());
    }

    private function keep(string $externalId, string $key): string
    {
        $this->store?->set($externalId, $key);
        return $key;
    }

    private function remember(string $externalId, string $key): string
    {
        $name = self::nameOf($externalId);
        unset($this->open[$name]);
        $this->open[$name] = $key;
        if (count($this->open) > self::MAX_REMEMBERED) {
            unset($this->open[array_key_first($this->open)]);
        }
        return $key;
    }

    /** PHP would make a number of an index such as "42". */
    private static function nameOf(string $externalId): string
    {
        return "id:$externalId";
    }

    private static function newKey(): string
    {
        $bytes = random_bytes(16);
        $bytes[6] = chr(ord($bytes[6]) & 0x0f | 0x40);
        $bytes[8] = chr(ord($bytes[8]) & 0x3f | 0x80);
        return vsprintf('%s%s-%s-%s-%s-%s%s%s', str_split(bin2hex($bytes), 4));
    }
}
