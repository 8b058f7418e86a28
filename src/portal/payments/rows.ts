import type { TimelineEvent } from '../../payments/index.ts';
import { deliveryItems, inOrderOfTime, type TimelineItem, timelineItem } from '../../web/index.ts';
import type { DeliveryHistory } from '../../webhooks/index.ts';

/** What a partner may see of the timeline of operators: not the calls to the gateway, not support, of the ids of other systems only what SBP calls it. */
const shownPhases = new Set(['created', 'manual_review', 'succeeded', 'failed']);
const shownFacts = ['usdt', 'rub', 'error_code', 'operation_number'];

export const timelineOf = (
  status: string,
  events: TimelineEvent[],
  deliveries: DeliveryHistory | undefined,
): TimelineItem<'phase' | 'entry' | 'event' | 'delivery'>[] =>
  inOrderOfTime([
    ...events
      .filter(({ kind, what }) => kind === 'entry' || (kind === 'phase' && shownPhases.has(what)))
      .map(({ at, kind, what, facts, outcome }) =>
        timelineItem(at, kind as 'phase' | 'entry', what, {
          outcome,
          facts: Object.fromEntries(Object.entries(facts).filter(([name]) => shownFacts.includes(name))),
        }),
      ),
    ...(deliveries ? deliveryItems(deliveries, status) : []),
  ]);
