<?php

declare(strict_types=1);

namespace Kopeck;

/** Stores the position of a reader: one string, in a file, a row or a key. Each mode needs its own. */
interface PositionStore
{
    public function load(): ?string;

    public function save(string $eventId): void;
}

/** @phpstan-import-type PaymentEvent from Kopeck */
final class Events
{
    private const PAGE = 100;

    /** @internal */
    public function __construct(private readonly Transport $transport)
    {
    }

    /**
     * One page, oldest first.
     *
     * @return array{data: list<PaymentEvent>, has_more: bool, next_cursor: string, request_id: string}
     */
    public function list(?string $after = null, ?int $limit = null, ?string $extraEvents = null): array
    {
        $query = ['after' => $after, 'limit' => $limit, 'extra_events' => $extraEvents];
        return $this->transport->json('GET', 'events', $query);
    }

    /**
     * All events, oldest first, each at least once and none left out. An event counts as handled when the loop asks for the next
     * one; after a `break` or an exception it comes again.
     *
     * @param ?string $start The id of the last event that you have, or `latest` for new events only; for an empty store.
     * @param bool $follow False: ends after the last event. By default it waits for more.
     * @param float $poll How many seconds to wait when there is nothing new.
     * @param ?\Closure(): bool $isStopped Ends the loop when it returns true.
     * @param ?\Closure(KopeckException): void $onError Called for failures that are retried while following.
     * @return \Generator<int, PaymentEvent>
     */
    public function read(
        ?PositionStore $store = null,
        ?string $start = null,
        ?string $extraEvents = null,
        bool $follow = true,
        float $poll = 2.0,
        ?\Closure $isStopped = null,
        ?\Closure $onError = null,
    ): \Generator {
        $isStopped ??= fn (): bool => false;
        $position = $store?->load() ?? $start;
        $failures = 0;
        while (!$isStopped()) {
            try {
                $page = $this->list($position, self::PAGE, $extraEvents);
                $failures = 0;
            } catch (KopeckException $error) {
                if (!$follow || !Retries::isDue($error, true)) {
                    throw $error;
                }
                if ($onError !== null) {
                    $onError($error);
                }
                $this->transport->sleep($this->transport->delay(++$failures));
                continue;
            }
            foreach ($page['data'] as $event) {
                yield $event;
                // The loop asks for the next event, so this one has been handled.
                $store?->save($event['id']);
                $position = $event['id'];
                if ($isStopped()) {
                    return;
                }
            }
            // `latest` moves with each new event, so it is replaced by the place where it was. And a page can end after its last
            // event.
            if ($position === 'latest' || $page['has_more']) {
                if ($position !== $page['next_cursor']) {
                    $store?->save($page['next_cursor']);
                }
                $position = $page['next_cursor'];
            }
            if ($page['has_more']) {
                continue;
            }
            if (!$follow) {
                return;
            }
            $this->transport->sleep($poll);
        }
    }
}
