<?php

declare(strict_types=1);

namespace Kopeck;

final class HttpRequest
{
    /**
     * @param array<string, string> $headers
     * @param float $timeout In seconds, for the whole attempt.
     */
    public function __construct(
        public readonly string $method,
        public readonly string $url,
        public readonly array $headers,
        public readonly ?string $body,
        public readonly float $timeout,
    ) {
    }

    /** Without the headers, which have the API key. */
    public function __debugInfo(): array
    {
        return ['method' => $this->method, 'url' => $this->url, 'body' => $this->body];
    }
}

final class HttpResponse
{
    /** @param array<string, string> $headers By their names in lower case. */
    public function __construct(
        public readonly int $status,
        public readonly array $headers,
        public readonly string $body,
    ) {
    }
}

/** There is no answer. */
final class HttpFailure extends \RuntimeException
{
    public function __construct(string $message, public readonly bool $isTimeout = false)
    {
        parent::__construct($message);
    }
}

/** Sends a request once. */
interface Http
{
    /** @throws HttpFailure */
    public function send(HttpRequest $request): HttpResponse;
}

final class CurlHttp implements Http
{
    public function send(HttpRequest $request): HttpResponse
    {
        $headers = [];
        $curl = curl_init($request->url);
        curl_setopt_array($curl, [
            CURLOPT_CUSTOMREQUEST => $request->method,
            CURLOPT_HTTPHEADER => array_map(
                fn (string $name, string $value) => "$name: $value",
                array_keys($request->headers),
                $request->headers,
            ),
            CURLOPT_RETURNTRANSFER => true,
            // Followed, a payment would become a GET, or the key would go to another host.
            CURLOPT_FOLLOWLOCATION => false,
            CURLOPT_PROTOCOLS => CURLPROTO_HTTP | CURLPROTO_HTTPS,
            CURLOPT_TIMEOUT_MS => max(1, (int) ($request->timeout * 1000)),
            CURLOPT_NOSIGNAL => true,
            CURLOPT_HEADERFUNCTION => function ($_curl, string $line) use (&$headers): int {
                [$name, $value] = explode(':', $line, 2) + [1 => null];
                if ($value !== null) {
                    $headers[strtolower(trim($name))] = trim($value);
                }
                return strlen($line);
            },
        ]);
        if ($request->body !== null) {
            curl_setopt($curl, CURLOPT_POSTFIELDS, $request->body);
        }
        $body = curl_exec($curl);
        if (!is_string($body)) {
            throw new HttpFailure(curl_error($curl), curl_errno($curl) === CURLE_OPERATION_TIMEDOUT);
        }
        return new HttpResponse(curl_getinfo($curl, CURLINFO_RESPONSE_CODE), $headers, $body);
    }
}
