<?php

declare(strict_types=1);

namespace Kopeck\Tests;

use Kopeck\Http;
use Kopeck\HttpFailure;
use Kopeck\HttpRequest;
use Kopeck\HttpResponse;
use Kopeck\Kopeck;

const PAYMENT = [
    'id' => 'pay_01m7ehqr39e00aq7xw60wbe32j',
    'object' => 'payment',
    'mode' => 'test',
    'status' => 'succeeded',
    'external_id' => 'order-42',
];

/** @param array<string, string> $headers */
function answer(int $status, mixed $body, array $headers = []): \Closure
{
    $text = is_string($body) ? $body : json_encode($body, JSON_THROW_ON_ERROR);
    return fn (): HttpResponse => new HttpResponse($status, $headers, $text);
}

/**
 * @param array<string, mixed> $extra
 * @param array<string, string> $headers
 */
function refusal(int $status, string $code, array $extra = [], array $headers = []): \Closure
{
    $error = ['code' => $code, 'message' => "about $code", 'request_id' => 'req_1'] + $extra;
    return answer($status, ['error' => $error], ['x-request-id' => 'req_1'] + $headers);
}

function cut(): \Closure
{
    return fn () => throw new HttpFailure('gone');
}

function late(): \Closure
{
    return fn () => throw new HttpFailure('late', isTimeout: true);
}

/** A client with a scripted service, whose last step repeats, and a clock that moves only by sleeping. */
final class Scripted implements Http
{
    /** @var list<HttpRequest> */
    public array $requests = [];
    /** @var list<float> */
    public array $pauses = [];
    /** 2026-11-15T10:00:00Z */
    public float $now = 1_794_736_800.0;
    public readonly Kopeck $kopeck;

    /**
     * @param list<\Closure> $script
     * @param array<string, mixed> $options
     */
    public function __construct(private readonly array $script, array $options = [])
    {
        $this->kopeck = new Kopeck('svc_test_abc_secret', 'https://pay.example/base', ...$options + [
            'http' => $this,
            'sleep' => function (float $seconds): void {
                $this->pauses[] = $seconds;
                $this->now += $seconds;
            },
            'now' => fn (): float => $this->now,
            'random' => fn (): float => 0.0,
        ]);
    }

    public function send(HttpRequest $request): HttpResponse
    {
        $this->requests[] = $request;
        return $this->script[min(count($this->requests), count($this->script)) - 1]();
    }

    /** @return list<string> */
    public function keys(): array
    {
        return array_map(fn (HttpRequest $request) => $request->headers['Idempotency-Key'], $this->requests);
    }

    /** @return list<string> */
    public function urls(): array
    {
        return array_map(fn (HttpRequest $request) => $request->url, $this->requests);
    }
}

function same(mixed $wanted, mixed $found): void
{
    if ($wanted === $found) {
        return;
    }
    throw new \LogicException('wanted ' . var_export($wanted, true) . ', found ' . var_export($found, true));
}

/**
 * @template Thrown of \Throwable
 * @param class-string<Thrown> $class
 * @return Thrown
 */
function thrown(string $class, \Closure $work): \Throwable
{
    try {
        $work();
    } catch (\Throwable $error) {
        same($class, $error::class);
        return $error;
    }
    throw new \LogicException("$class was not thrown");
}
