import { type Command, Option } from 'commander';
import { contractEvents, type EventKind, type Webhook } from '../webhooks/index.ts';
import { eventKindList } from './arguments.ts';
import { RefusedError } from './refused.ts';

export interface EventsOptions {
  refunded?: 'on' | 'off';
  only?: EventKind[];
}

type Action = (partner: string, options: EventsOptions & { json: boolean }) => Promise<void>;

export const eventsCommand = (base: Command, action: Action) =>
  base
    .addOption(
      new Option('--refunded <choice>', 'payment.refunded: money of a payment came back').choices([
        'on',
        'off',
      ]),
    )
    .option('--only <kinds>', 'exactly these events, separated by commas', eventKindList)
    .action((partner, options, self: Command) => {
      if ((options.refunded === undefined) === (options.only === undefined))
        self.error('error: specify either --refunded or --only');
      return action(partner, options);
    });

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
