import { type Id, uuidFromId } from '../../src/base/ids.ts';
import type { Mode } from '../../src/ledger/index.ts';
import { envelope, listEvents } from '../../src/webhooks/index.ts';
import { verifySignature } from '../helpers/signature.ts';
import type { Model } from './model.ts';
import type { Sent } from './receivers.ts';
import { eventIdOf } from './webhook-sending.ts';
import type { World } from './world.ts';

/** A setting of a partner and when it was in force: an address, a secret. */
interface Setting {
  value: string;
  fromMs: number;
  untilMs: number;
}

/** The webhook settings of partners, and the checks a receiver makes on every arrival. */
export interface Arrivals {
  partnerOf(url: string): Id<'prt'> | undefined;
  setAddress(partnerId: Id<'prt'>, url: string): void;
  /** Newest first; an older secret is in force as long as it is in the list. */
  setSecrets(partnerId: Id<'prt'>, secrets: string[]): void;
  check(sent: Sent): Promise<void>;
}

/** A process may use a setting that it read up to this long ago. */
const staleMs = 30_000;

export function createArrivals(
  world: World,
  options: { model: Model; isExcused(processName: string): boolean },
): Arrivals {
  const { violate, trace, scheduler, pool } = world;
  const addresses = new Map<Id<'prt'>, Setting[]>();
  const secrets = new Map<Id<'prt'>, Setting[]>();
  const bodies = new Map<string, string>();
  const deliveryIds = new Map<string, string>();

  function replace(settings: Map<Id<'prt'>, Setting[]>, partnerId: Id<'prt'>, values: string[]): void {
    const known = settings.get(partnerId) ?? [];
    const nowMs = scheduler.nowMs();
    for (const setting of known)
      if (!values.includes(setting.value)) setting.untilMs = Math.min(setting.untilMs, nowMs);
    const fresh = values.filter(value => known.every(setting => setting.value !== value));
    settings.set(partnerId, [
      ...known,
      ...fresh.map(value => ({ value, fromMs: nowMs, untilMs: Number.POSITIVE_INFINITY })),
    ]);
  }

  function checkAddress({ partnerId, processName, sending }: Sent): void {
    const { untilMs } = addresses.get(partnerId)!.find(({ value }) => value === sending.url)!;
    if (scheduler.nowMs() - untilMs > staleMs && !options.isExcused(processName))
      violate('events go to the address that is set', `${trace.nameOf(partnerId)} has changed it`);
  }

  /** A receiver may have only the newest secret, or only the one before it. */
  function checkSignature({ partnerId, processName, sending: { headers, body } }: Sent): void {
    const nowMs = scheduler.nowMs();
    const signature = headers['x-service-signature']!;
    const verifies = ({ value }: Setting) =>
      verifySignature(value, signature, body, Math.floor(nowMs / 1_000));
    const known = secrets.get(partnerId)!;
    const allowedMs = options.isExcused(processName) ? 200_000 : staleMs;
    for (const secret of known) {
      const isInForce = secret.fromMs <= nowMs - allowedMs && secret.untilMs > nowMs;
      const isOver = secret.untilMs <= nowMs - allowedMs;
      if ((isInForce && !verifies(secret)) || (isOver && verifies(secret)))
        violate(
          'events are signed with the secrets in force',
          `${trace.nameOf(partnerId)} from ${processName}`,
        );
    }
    if (!known.some(verifies)) violate('events are signed with the secrets in force', 'by none at all');
  }

  async function feedOf(partnerId: Id<'prt'>, mode: Mode, eventId: string): Promise<string | undefined> {
    // The feed accepts only positions that are events, so it is read from the event before.
    const { rows } = await pool.query<{ before: bigint }>({
      text: 'SELECT coalesce(max(id), 0) AS before FROM events WHERE partner_id = $1 AND mode = $2 AND id < $3',
      values: [uuidFromId(partnerId), mode, eventId],
    });
    const page = await listEvents(pool, { partnerId, mode }, { after: rows[0]!.before, limit: 1 });
    const event = page?.events[0];
    return event && envelope(event);
  }

  async function checkBody(sent: Sent): Promise<void> {
    const { partnerId, sending } = sent;
    const { body, headers } = sending;
    const { data, event: kind } = JSON.parse(body);
    const payment = options.model.find(data.id);
    const name = trace.nameOf(data.id);
    if (!payment || (payment.status !== 'succeeded' && payment.status !== 'failed'))
      return violate('no event is sent for an unfinished payment', `${name} ${payment?.status}`);
    if (payment.partnerId !== partnerId)
      return violate(
        'a receiver gets events of its own payments only',
        `${trace.nameOf(partnerId)} got ${name}`,
      );
    const eventId = eventIdOf(sending);
    const sentAs = `${data.status} ${data.error?.code ?? null} ${Math.round(Number(data.amount_rub) * 100)}`;
    const booked = `${payment.status} ${payment.errorCode} ${payment.kopecks}`;
    if (kind !== `payment.${payment.status}` || sentAs !== booked)
      violate('an event agrees with the books', `${name}: ${sentAs}; in the books ${booked}`);
    const expected = bodies.get(data.id) ?? (await feedOf(partnerId, payment.mode, eventId));
    if (body !== expected) violate('an event equals the event feed, and is the same on every attempt', name);
    bodies.set(data.id, body);
    checkDeliveryId(eventId, headers['x-service-delivery']!);
  }

  function checkDeliveryId(eventId: string, deliveryId: string): void {
    const before = deliveryIds.get(deliveryId) ?? eventId;
    const isSame = [...deliveryIds].every(([id, event]) => event !== eventId || id === deliveryId);
    if (before !== eventId || !isSame)
      violate('the delivery id is that of the event', trace.nameOf(`evt_${eventId}`));
    deliveryIds.set(deliveryId, eventId);
  }

  return {
    partnerOf: url => [...addresses].find(([, settings]) => settings.some(({ value }) => value === url))?.[0],
    setAddress: (partnerId, url) => replace(addresses, partnerId, [url]),
    setSecrets: (partnerId, values) => replace(secrets, partnerId, values),
    check: async sent => {
      checkAddress(sent);
      checkSignature(sent);
      await checkBody(sent);
    },
  };
}
