<?php

declare(strict_types=1);

namespace Kopeck;

/** @phpstan-import-type PaymentEvent from Kopeck */
final class Webhook
{
    /** The header that carries the signature. */
    public const SIGNATURE_HEADER = 'X-Service-Signature';

    /**
     * The event of a webhook, if it is from the service and fresh; otherwise a SignatureException. The body must be the raw
     * bytes: parsed and serialised again, it has another signature. While a secret is being rotated, pass both. Instead of the
     * header `X-Service-Signature` all headers can be passed, such as those of `getallheaders()`: without that one, those of
     * Standard Webhooks are verified.
     *
     * @param string|array<string, string|list<string>>|null $header
     * @param string|list<string> $secret
     * @param float $tolerance How many seconds the time of the signature may be from now, before or after.
     * @param ?\Closure(): float $now
     * @return PaymentEvent
     */
    public static function verify(
        string $rawBody,
        string|array|null $header,
        #[\SensitiveParameter] string|array $secret,
        float $tolerance = 300,
        ?\Closure $now = null,
    ): array {
        $secrets = (array) $secret;
        if ($secrets === [] || array_filter($secrets, fn (mixed $one) => !is_string($one) || $one === '') !== []) {
            throw new \InvalidArgumentException('verify needs the webhook secret');
        }
        [$at, $digests, $prefix, $isStandard] = self::readSignature($header);
        if (!self::isSigned($secrets, $digests, $prefix . $rawBody, $isStandard)) {
            throw self::refused('signature_mismatch', 'No signature matches: wrong secret, or the body was changed.');
        }
        if (abs(($now === null ? microtime(true) : $now()) - (int) $at) > $tolerance) {
            throw self::refused('timestamp_out_of_tolerance', "The timestamp is off by more than $tolerance s.");
        }
        try {
            $event = json_decode($rawBody, true, 512, JSON_THROW_ON_ERROR | JSON_BIGINT_AS_STRING);
            return is_array($event) ? $event : throw new \JsonException('not an event');
        } catch (\JsonException $cause) {
            throw new SignatureException('The body is not JSON.', 'body_malformed', previous: $cause);
        }
    }

    /**
     * The time, the digests, what is signed before the body, and whether they are those of Standard Webhooks.
     *
     * @param string|array<string, string|list<string>>|null $header
     * @return array{string, list<string>, string, bool}
     */
    private static function readSignature(string|array|null $header): array
    {
        if (!is_array($header)) {
            return self::readHeader($header);
        }
        $own = self::headerIn($header, self::SIGNATURE_HEADER);
        $isStandard = $own === '' && self::headerIn($header, 'webhook-signature') !== '';
        return $isStandard ? self::readStandard($header) : self::readHeader($own);
    }

    /**
     * `t=<unix seconds>,v1=<hex>[,v1=<hex>…]`; unknown schemes are ignored.
     *
     * @return array{string, list<string>, string, bool}
     */
    private static function readHeader(?string $header): array
    {
        if ($header === null || $header === '') {
            throw self::refused('signature_missing', 'The header ' . self::SIGNATURE_HEADER . ' is missing.');
        }
        $times = $digests = [];
        foreach (array_map('trim', explode(',', $header)) as $part) {
            if (str_starts_with($part, 't=')) {
                $times[] = substr($part, 2);
            } elseif (preg_match('/^v1=[0-9a-f]{64}\z/', $part) === 1) {
                $digests[] = (string) hex2bin(substr($part, 3));
            }
        }
        if (count($times) !== 1 || !self::isTime($times[0]) || $digests === []) {
            throw self::refused('signature_malformed', 'The header is not t=<unix seconds>,v1=<hex digest>.');
        }
        return [$times[0], $digests, "$times[0].", false];
    }

    /**
     * The headers of Standard Webhooks. Signatures are separated by spaces; those of other schemes are ignored.
     *
     * @param array<string, string|list<string>> $headers
     * @return array{string, list<string>, string, bool}
     */
    private static function readStandard(array $headers): array
    {
        [$id, $at, $signatures] = array_map(
            fn (string $name) => self::headerIn($headers, $name),
            ['webhook-id', 'webhook-timestamp', 'webhook-signature'],
        );
        $digests = [];
        foreach (explode(' ', $signatures) as $part) {
            if (preg_match('/^v1,[A-Za-z0-9+\/]{43}=\z/', $part) === 1) {
                $digests[] = (string) base64_decode(substr($part, 3), true);
            }
        }
        if ($id === '' || !self::isTime($at) || $digests === []) {
            throw self::refused('signature_malformed', 'The header webhook-signature is not v1,<base64>.');
        }
        return [$at, $digests, "$id.$at.", true];
    }

    /**
     * @param list<string> $secrets
     * @param list<string> $digests
     */
    private static function isSigned(
        #[\SensitiveParameter] array $secrets,
        array $digests,
        string $signed,
        bool $isStandard,
    ): bool {
        $isFound = false;
        foreach ($secrets as $secret) {
            $made = hash_hmac('sha256', $signed, $isStandard ? self::standardKey($secret) : $secret, true);
            foreach ($digests as $digest) {
                $isFound = hash_equals($made, $digest) || $isFound;
            }
        }
        return $isFound;
    }

    /** What follows `whsec_`, also in the alphabet of base64url, which older secrets have. */
    private static function standardKey(#[\SensitiveParameter] string $secret): string
    {
        $text = str_starts_with($secret, 'whsec_') ? substr($secret, 6) : $secret;
        $key = base64_decode(strtr($text, '-_', '+/'), true);
        return $key === false
            ? throw new \InvalidArgumentException('the webhook secret is not whsec_ and base64')
            : $key;
    }

    private static function isTime(string $text): bool
    {
        return preg_match('/^[0-9]{1,12}\z/', $text) === 1;
    }

    /**
     * Whatever the case of their names; of several with a name, all.
     *
     * @param array<string, string|list<string>> $headers
     */
    private static function headerIn(array $headers, string $name): string
    {
        foreach ($headers as $key => $value) {
            if (strcasecmp((string) $key, $name) === 0) {
                return implode(',', (array) $value);
            }
        }
        return '';
    }

    private static function refused(string $code, string $message): SignatureException
    {
        return new SignatureException($message, $code);
    }
}
