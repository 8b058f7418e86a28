import { type Id, uuidFromId } from '../../src/base/ids.ts';
import type { Mode } from '../../src/ledger/index.ts';
import { envelope, listEvents } from '../../src/webhooks/index.ts';
import { verifySignature } from '../helpers/signature.ts';
import type { Model } from './model.ts';
import type { Sent } from './receivers.ts';
import type { DeliveryKey } from './webhook-books.ts';
import { keyOf } from './webhook-model.ts';
import { eventIdOf } from './webhook-sending.ts';
import type { World } from './world.ts';

/** A setting of an endpoint and when it was in force: an address, a secret. */
interface Setting {
  value: string;
  fromMs: number;
  untilMs: number;
}

/** An endpoint that exists or did. */
export interface Endpoint {
  endpointId: Id<'whe'>;
  partnerId: Id<'prt'>;
  /** Null: both. */
  mode: Mode | null;
}

/** A process may use a setting that it read up to this long ago. */
const staleMs = 30_000;

/** The settings of endpoints, and the checks a receiver makes on every arrival. */
export function createArrivals(
  world: World,
  options: { model: Model; isExcused(processName: string): boolean },
) {
  const { violate, scheduler, pool } = world;
  const addresses = new Map<Id<'whe'>, Setting[]>();
  const secrets = new Map<Id<'whe'>, Setting[]>();
  const endpoints = new Map<Id<'whe'>, Endpoint>();
  const bodies = new Map<string, string>();
  const deliveryIds = new Map<string, string>();

  function replace(settings: Map<Id<'whe'>, Setting[]>, endpointId: Id<'whe'>, values: string[]): void {
    const known = settings.get(endpointId) ?? [];
    const nowMs = scheduler.nowMs();
    for (const setting of known)
      if (!values.includes(setting.value)) setting.untilMs = Math.min(setting.untilMs, nowMs);
    const fresh = values.filter(value => known.every(setting => setting.value !== value));
    settings.set(endpointId, [
      ...known,
      ...fresh.map(value => ({ value, fromMs: nowMs, untilMs: Number.POSITIVE_INFINITY })),
    ]);
  }

  function checkAddress({ endpointId, processName, sending }: Sent): void {
    const { untilMs } = addresses.get(endpointId)!.find(({ value }) => value === sending.url)!;
    if (scheduler.nowMs() - untilMs > staleMs && !options.isExcused(processName))
      violate('events go to the address that is set', `${endpointId} has changed it or is gone`);
  }

  /** A receiver may have only the newest secret, or only the one before it. */
  function checkSignature({ endpointId, processName, sending: { headers, body } }: Sent): void {
    const nowMs = scheduler.nowMs();
    const signature = headers['x-service-signature']!;
    const verifies = ({ value }: Setting) =>
      verifySignature(value, signature, body, Math.floor(nowMs / 1_000));
    const known = secrets.get(endpointId)!;
    const allowedMs = options.isExcused(processName) ? 200_000 : staleMs;
    for (const secret of known) {
      const isInForce = secret.fromMs <= nowMs - allowedMs && secret.untilMs > nowMs;
      const isOver = secret.untilMs <= nowMs - allowedMs;
      if ((isInForce && !verifies(secret)) || (isOver && verifies(secret)))
        violate('events are signed with the secrets in force', `${endpointId} from ${processName}`);
    }
    if (!known.some(verifies)) violate('events are signed with the secrets in force', 'by none at all');
  }

  async function feedOf(partnerId: Id<'prt'>, mode: Mode, eventId: string): Promise<string | undefined> {
    // The feed accepts only positions that are events, so it is read from the event before.
    const { rows } = await pool.query<{ before: bigint }>({
      text: `SELECT greatest(0, (SELECT max(id) FROM events WHERE partner_id = $1 AND mode = $2 AND id < $3),
                                (SELECT max(event_id) FROM refunds WHERE partner_id = $1 AND mode = $2 AND event_id < $3)) AS before`,
      values: [uuidFromId(partnerId), mode, eventId],
    });
    const position = { after: rows[0]!.before, limit: 1, withRefunds: true };
    const page = await listEvents(pool, { partnerId, mode }, position);
    const event = page?.events[0];
    return event && envelope(event);
  }

  async function checkBody(sent: Sent): Promise<void> {
    const { endpointId, sending } = sent;
    const { partnerId, mode } = endpoints.get(endpointId)!;
    const { body, headers } = sending;
    const { data, event: kind } = JSON.parse(body);
    const payment = options.model.find(data.id);
    if (!payment || (payment.status !== 'succeeded' && payment.status !== 'failed'))
      return violate('no event is sent for an unfinished payment', `${data.id} ${payment?.status}`);
    if (payment.partnerId !== partnerId || (mode ?? payment.mode) !== payment.mode)
      return violate('a receiver gets events of its own payments and mode', `${endpointId} got ${data.id}`);
    const eventId = eventIdOf(sending);
    const isKind = kind === `payment.${payment.status}` || kind === 'payment.refunded';
    const sentAs = `${data.status} ${data.error?.code ?? null} ${Math.round(Number(data.amount_rub) * 100)}`;
    const booked = `${payment.status} ${payment.errorCode} ${payment.kopecks}`;
    if (!isKind || sentAs !== booked)
      violate('an event agrees with the books', `${data.id}: ${sentAs}; in the books ${booked}`);
    const expected = bodies.get(eventId) ?? (await feedOf(partnerId, payment.mode, eventId));
    if (body !== expected)
      violate('an event equals the event feed, and is the same on every attempt', data.id);
    bodies.set(eventId, body);
    checkDeliveryId({ endpointId, eventId }, headers['x-service-delivery']!);
  }

  function checkDeliveryId(delivery: DeliveryKey, deliveryId: string): void {
    const key = keyOf(delivery);
    const before = deliveryIds.get(deliveryId) ?? key;
    const isSame = [...deliveryIds].every(([id, other]) => other !== key || id === deliveryId);
    if (before !== key || !isSame)
      violate('the delivery id is that of event and endpoint', `evt_${delivery.eventId}`);
    deliveryIds.set(deliveryId, key);
  }

  return {
    endpointOf: (url: string) =>
      [...addresses].find(([, settings]) => settings.some(({ value }) => value === url))?.[0],
    setAddress: (endpoint: Endpoint, url: string) => {
      endpoints.set(endpoint.endpointId, endpoint);
      replace(addresses, endpoint.endpointId, [url]);
    },
    /** Newest first; an older secret is in force as long as it is in the list. */
    setSecrets: (endpointId: Id<'whe'>, values: string[]) => replace(secrets, endpointId, values),
    /** The endpoint is gone: nothing is sent to it from now on, but for what is under way. */
    remove: (endpointId: Id<'whe'>) => {
      for (const settings of [addresses, secrets]) replace(settings, endpointId, []);
    },
    check: async (sent: Sent) => {
      checkAddress(sent);
      checkSignature(sent);
      await checkBody(sent);
    },
  };
}
