<?php

declare(strict_types=1);

namespace Kopeck;

/**
 * Sends requests, and retries them as section 7 of the contract says: each time the same bytes with the same key.
 *
 * @internal
 */
final class Transport
{
    private readonly string $base;

    /**
     * @param \Closure(float): void $sleep
     * @param \Closure(): float $now
     * @param \Closure(): float $random
     */
    public function __construct(
        #[\SensitiveParameter] private readonly string $apiKey,
        string $baseUrl,
        private readonly int $maxRetries,
        private readonly float $timeout,
        private readonly Http $http,
        private readonly \Closure $sleep,
        private readonly \Closure $now,
        private readonly \Closure $random,
    ) {
        if (preg_match('/^[\x21-\x7e]+\z/', $apiKey) !== 1) {
            throw new \InvalidArgumentException('apiKey must be the key of the service, such as svc_test_…');
        }
        $address = parse_url($baseUrl);
        if (!in_array($address['scheme'] ?? '', ['http', 'https'], true) || ($address['host'] ?? '') === '') {
            throw new \InvalidArgumentException('baseUrl must be a URL such as https://pay.example.com');
        }
        $this->base = rtrim($baseUrl, '/') . '/v1/';
    }

    /** Without the API key. */
    public function __debugInfo(): array
    {
        return ['base' => $this->base];
    }

    public function sleep(float $seconds): void
    {
        ($this->sleep)($seconds);
    }

    public function now(): float
    {
        return ($this->now)();
    }

    public function delay(int $retry, ?float $retryAfter = null): float
    {
        return Retries::delay($retry, $retryAfter, ($this->random)());
    }

    /**
     * The JSON of the answer.
     *
     * @param array<string, mixed> $query
     * @param ?array<string, mixed> $body
     * @return array<string, mixed>
     */
    public function json(
        string $method,
        string $path,
        array $query = [],
        ?array $body = null,
        ?string $idempotencyKey = null,
        bool $repeatable = true,
    ): array {
        $read = function (string $text): array {
            $answer = self::decode($text);
            // Some proxies answer 200 with their own page.
            return is_array($answer) ? $answer : throw new \JsonException('not an answer');
        };
        $request = $this->request($method, $path, $query, $body, $idempotencyKey);
        return $this->send($request, $read, $idempotencyKey, $repeatable);
    }

    /**
     * The text that `GET` answers, if its end matches.
     *
     * @param array<string, mixed> $query
     */
    public function text(string $path, string $end, array $query): string
    {
        $read = fn (string $text): string => preg_match($end, $text) === 1
            ? $text
            : throw new \JsonException('the text is incomplete');
        return $this->send($this->request('GET', $path, $query, null, null), $read, null, true);
    }

    /**
     * @param array<string, mixed> $query
     * @param ?array<string, mixed> $body
     */
    private function request(
        string $method,
        string $path,
        array $query,
        ?array $body,
        ?string $idempotencyKey,
    ): HttpRequest {
        $given = array_map(
            fn (mixed $value) => $value instanceof \DateTimeInterface ? self::instant($value) : $value,
            array_filter($query, fn (mixed $value) => $value !== null),
        );
        $url = $this->base . $path . ($given === [] ? '' : '?' . http_build_query($given));
        $headers = ['Authorization' => "Bearer $this->apiKey"];
        if ($body !== null) {
            $headers['Content-Type'] = 'application/json';
        }
        if ($idempotencyKey !== null) {
            $headers['Idempotency-Key'] = $idempotencyKey;
        }
        return new HttpRequest($method, $url, $headers, $body === null ? null : self::encode($body), $this->timeout);
    }

    private function send(HttpRequest $request, \Closure $read, ?string $idempotencyKey, bool $repeatable): mixed
    {
        for ($retry = 1; ; $retry++) {
            try {
                return $this->sendOnce($request, $read, $idempotencyKey);
            } catch (KopeckException $error) {
                if ($retry > $this->maxRetries || !Retries::isDue($error, $repeatable)) {
                    throw $error;
                }
                $this->sleep($this->delay($retry, $error->retryAfter));
            }
        }
    }

    /** Whatever goes wrong is a KopeckException. */
    private function sendOnce(HttpRequest $request, \Closure $read, ?string $idempotencyKey): mixed
    {
        $unknown = ['retryable' => true, 'sameKey' => true, 'idempotencyKey' => $idempotencyKey];
        try {
            $response = $this->http->send($request);
        } catch (HttpFailure $cause) {
            if ($cause->isTimeout) {
                $message = "No response within $this->timeout s.";
                throw new TimeoutException($message, 'timeout', ...$unknown, previous: $cause);
            }
            $message = 'The service could not be reached, or its response was lost.';
            throw new ConnectionException($message, 'connection_failed', ...$unknown, previous: $cause);
        }
        $requestId = $response->headers['x-request-id'] ?? null;
        if ($response->status !== 200) {
            $retryAfter = Retries::readRetryAfter($response->headers['retry-after'] ?? null, $this->now());
            $body = self::decodeOrNull($response->body);
            throw KopeckException::from($response->status, $body, $requestId, $idempotencyKey, $retryAfter);
        }
        try {
            return $read($response->body);
        } catch (\JsonException $cause) {
            $message = 'The response cannot be parsed.';
            throw new ConnectionException(
                $message,
                'unreadable_answer',
                ...$unknown,
                requestId: $requestId,
                previous: $cause,
            );
        }
    }

    private static function instant(\DateTimeInterface $at): string
    {
        return \DateTimeImmutable::createFromInterface($at)
            ->setTimezone(new \DateTimeZone('UTC'))
            ->format('Y-m-d\TH:i:s.v\Z');
    }

    /** @param array<string, mixed> $body */
    private static function encode(array $body): string
    {
        $given = array_filter($body, fn (mixed $value) => $value !== null);
        return json_encode($given, JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES);
    }

    private static function decode(string $text): mixed
    {
        return json_decode($text, true, 512, JSON_THROW_ON_ERROR | JSON_BIGINT_AS_STRING);
    }

    private static function decodeOrNull(string $text): mixed
    {
        try {
            return self::decode($text);
        } catch (\JsonException) {
            return null;
        }
    }
}
