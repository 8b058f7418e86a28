import { type DeliveryHistory, formatEventId } from '../webhooks/index.ts';

/** Something that happened to a payment. */
export interface TimelineItem<Kind extends string> {
  at: string;
  kind: Kind;
  /** A key that the page translates, such as `created`, `hold`, `payment.succeeded`. */
  what: string;
  /** Further facts, by a name that the page translates, as it does codes; null: there is none. */
  facts: Record<string, string | number | null>;
  outcome: 'good' | 'bad' | 'open' | null;
  duration_ms: number | null;
}

/** An item without facts, outcome and duration, but for those given. */
export const timelineItem = <Kind extends string>(
  at: Date,
  kind: Kind,
  what: string,
  more: Partial<TimelineItem<Kind>> = {},
): TimelineItem<Kind> => ({
  at: at.toISOString(),
  kind,
  what,
  facts: {},
  outcome: null,
  duration_ms: null,
  ...more,
});

/** The event of a finished payment: when it was written, each attempt to send it, and what comes next. */
export function deliveryItems(
  { eventId, at, attempts, deliveries }: DeliveryHistory,
  status: string,
): TimelineItem<'event' | 'delivery'>[] {
  const event = timelineItem(at, 'event', `payment.${status}`, { facts: { event: formatEventId(eventId) } });
  const tried = attempts.map(({ attempt, at: triedAt, status: answered, error, durationMs }) => {
    const isDelivered = answered !== null && answered >= 200 && answered < 300;
    return timelineItem(triedAt, 'delivery', isDelivered ? 'delivered' : 'not_delivered', {
      facts: { attempt, http_status: answered, error },
      outcome: isDelivered ? 'good' : 'bad',
      duration_ms: durationMs,
    });
  });
  const pending = deliveries.map(({ failedAt, nextAt, attempts: made }) =>
    failedAt
      ? timelineItem(failedAt, 'delivery', 'given_up', { outcome: 'bad' })
      : timelineItem(nextAt, 'delivery', 'next_attempt', { facts: { attempt: made + 1 }, outcome: 'open' }),
  );
  return [event, ...tried, ...pending];
}

/** The oldest first; items of the same time stay as they are. */
export const inOrderOfTime = <Item extends { at: string }>(items: Item[]): Item[] =>
  items.sort((one, other) => (one.at < other.at ? -1 : one.at > other.at ? 1 : 0));
