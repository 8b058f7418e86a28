import { contractEvents, type EventKind, type Webhook } from '../webhooks/index.ts';
import { RefusedError } from './refused.ts';

export interface EventsOptions {
  refunded?: 'on' | 'off';
  only?: EventKind[];
}

export function eventsOf({ events }: Webhook, { refunded, only }: EventsOptions): EventKind[] {
  const others = events.filter(kind => kind !== 'payment.refunded');
  return only ?? (refunded === 'on' ? [...others, 'payment.refunded'] : others);
}

export const refuseEvents = (outcome: 'no_events' | 'contract_events') =>
  new RefusedError(
    outcome,
    outcome === 'no_events'
      ? 'The endpoint would get no events: remove it instead.'
      : `The first endpoint always gets ${contractEvents.join(' and ')}: add another one for fewer.`,
  );
