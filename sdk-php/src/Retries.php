<?php

declare(strict_types=1);

namespace Kopeck;

/** @internal */
final class Retries
{
    private const FIRST_DELAY = 2.0;
    private const MAX_DELAY = 60.0;

    /**
     * Seconds before retry number `$retry` (from 1): 2 s, doubled each time, plus up to 50% jitter so that clients do not come
     * back at the same moment, and never less than `Retry-After`. `$chance` is a random number from 0 to 1.
     */
    public static function delay(int $retry, ?float $retryAfter, float $chance): float
    {
        $growing = min(self::FIRST_DELAY * 2 ** ($retry - 1), self::MAX_DELAY);
        return max($growing * (1 + $chance / 2), $retryAfter ?? 0.0);
    }

    /**
     * Never after a 4xx other than 429: the request must be fixed. `$repeatable` is false for requests that must not be done
     * twice and have no key: then only 429 and 503, which did nothing, are retried.
     */
    public static function isDue(KopeckException $error, bool $repeatable): bool
    {
        // For a longer `Retry-After` than a call should wait, the caller gets the exception at once.
        if (!$error->retryable || ($error->retryAfter ?? 0) > self::MAX_DELAY) {
            return false;
        }
        if ($error->status === 429 || $error->status === 503) {
            return true;
        }
        return $repeatable && ($error->status === null || $error->status >= 500);
    }

    /** Seconds, or a date. */
    public static function readRetryAfter(?string $header, float $now): ?float
    {
        if ($header === null || $header === '') {
            return null;
        }
        if (ctype_digit($header)) {
            return (float) $header;
        }
        $at = \DateTimeImmutable::createFromFormat(DATE_RFC7231, $header, new \DateTimeZone('UTC'));
        return $at === false ? null : max(0.0, ceil($at->getTimestamp() - $now));
    }
}
