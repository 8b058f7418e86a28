<?php

declare(strict_types=1);

namespace Kopeck;

/** Any failure of a call. Decide by `errorCode`; the message is for people and may change. */
class KopeckException extends \RuntimeException
{
    /** Whether the payment must keep its key when it is sent again; with a new key it may be paid twice. */
    public readonly bool $sameKey;

    /**
     * @param ?int $status Of the HTTP answer, if there was one.
     * @param ?string $requestId Give it to support.
     * @param bool $retryable Whether the same request may succeed later. The library has already made all its retries.
     * @param ?string $idempotencyKey The key of the payment that the call should create.
     */
    final public function __construct(
        string $message,
        public readonly string $errorCode,
        public readonly ?int $status = null,
        public readonly ?string $requestId = null,
        public readonly bool $retryable = false,
        ?bool $sameKey = null,
        public readonly ?string $idempotencyKey = null,
        /** In seconds, with 429 and 5xx. */
        public readonly ?float $retryAfter = null,
        /** @var list<array{loc: list<string|int>, msg: string, type: string}> What is malformed. */
        public readonly array $details = [],
        /** With `insufficient_balance`. */
        public readonly ?string $requiredUsdt = null,
        public readonly ?string $balanceUsdt = null,
        ?\Throwable $previous = null,
    ) {
        parent::__construct($message, 0, $previous);
        $this->sameKey = $sameKey ?? $retryable;
    }

    /** Only after these errors a payment needs another key. */
    private const NEEDS_NEW_KEY = ['idempotency_conflict', 'missing_idempotency_key'];

    /**
     * The exception for an answer other than 200.
     *
     * @param mixed $body What the JSON says, or null.
     * @internal
     */
    public static function from(
        int $status,
        mixed $body,
        ?string $requestId,
        ?string $idempotencyKey,
        ?float $retryAfter,
    ): self {
        // Answers of proxies in between have no error object of the contract.
        $error = is_array($body) && is_string($body['error']['code'] ?? null) ? $body['error'] : [];
        $isMalformed = is_array($body) && is_array($body['detail'] ?? null);
        $details = $isMalformed ? array_values(array_filter($body['detail'], 'is_array')) : [];
        $code = $error['code'] ?? ($isMalformed ? 'malformed_request' : "http_$status");
        $isTemporary = $status === 429 || $status === 503 || ($status >= 500 && $error === []);
        $message = $isMalformed
            ? implode('; ', array_map(
                fn (array $one) => implode('.', (array) ($one['loc'] ?? [])) . ': ' . ($one['msg'] ?? ''),
                $details,
            ))
            : (string) ($error['message'] ?? "The service answered $status.");
        $class = match (true) {
            $isMalformed, $status === 400, $status === 422 => InvalidRequestException::class,
            $status === 401 => AuthenticationException::class,
            $status === 402, $status === 409 => PaymentRefusedException::class,
            $status === 403 => PermissionException::class,
            $status === 404 => NotFoundException::class,
            $status === 429 => RateLimitException::class,
            $status >= 500 => ServiceUnavailableException::class,
            default => self::class,
        };
        return new $class(
            $message,
            $code,
            $status,
            $requestId ?? $error['request_id'] ?? null,
            // A service that is older than the library sends no advice.
            retryable: $error['retryable'] ?? $isTemporary,
            // A refused request does not use up its key: an attempt whose answer was lost is found by the same key.
            sameKey: $error['same_key'] ?? !in_array($code, self::NEEDS_NEW_KEY, true),
            idempotencyKey: $idempotencyKey,
            retryAfter: $status === 429 || $status >= 500 ? $retryAfter : null,
            details: $details,
            requiredUsdt: $error['required_usdt'] ?? null,
            balanceUsdt: $error['balance_usdt'] ?? null,
        );
    }
}

/** 401: the key is wrong, revoked, expired or missing. */
final class AuthenticationException extends KopeckException
{
}

/** 403: suspended, another address, a blocked recipient, a limit, or a scope that the key lacks. */
final class PermissionException extends KopeckException
{
}

/** 400 and 422: the request must be fixed; `details` says where, if it is malformed. */
final class InvalidRequestException extends KopeckException
{
}

/** 402 and 409: the payment is refused in the current state. */
final class PaymentRefusedException extends KopeckException
{
}

/** 404. */
final class NotFoundException extends KopeckException
{
}

/** 429, also after all retries. */
final class RateLimitException extends KopeckException
{
}

/** 503 and other 5xx. The outcome of a payment is unknown unless the code is one of the contract's 503 codes. */
final class ServiceUnavailableException extends KopeckException
{
}

/** The service was not reached, or its answer was lost: the outcome of a payment is unknown. */
final class ConnectionException extends KopeckException
{
}

/** There was no answer in time: the outcome of a payment is unknown. */
final class TimeoutException extends KopeckException
{
}

/** A webhook that is not from the service, is too old, or was changed in transit. */
final class SignatureException extends KopeckException
{
}
