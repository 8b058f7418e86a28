import type { Clock } from '../../base/clock.ts';
import { type Id, idFromUuid, uuidFromId } from '../../base/ids.ts';
import type { Queryable } from '../../db/postgres/index.ts';
import type { Mode } from '../../ledger/index.ts';
import {
  findPayment,
  type Payment,
  type PaymentRow,
  paymentColumns,
  toPayment,
} from '../../payments/index.ts';
import type { EndpointRef } from '../first-endpoint.ts';
import { type Event, type RefundColumns, refundColumns, refundOf } from './envelope.ts';
import { decryptSecrets, type SecretRow, type Vault } from './secret.ts';
import type { DeliveryKey, SlotPlan } from './slots.ts';

/** A delivery that is due. Its row was written in the transaction of its event: the table is an outbox. */
export interface DueDelivery extends EndpointRef {
  event: Event;
  url: string;
  secrets: string[];
  /** Also signed with the partner's Ed25519 key. */
  ed25519: boolean;
  /** Attempts made so far. */
  attempts: number;
  /** The receiver's last attempt failed slowly. */
  isHanging: boolean;
  /** It waited while sending was suspended; such events go out one after the other. */
  isBacklog: boolean;
}

interface DueOptions extends SlotPlan {
  /** The process that must hold the lease. */
  instance: number;
  /** Under way, or with an attempt that is not recorded yet. */
  except: DeliveryKey[];
  /** An endpoint whose secret cannot be decrypted is left out, so that the others need not wait for it. */
  onUnreadableSecret(partnerId: Id<'prt'>, endpointId: Id<'whe'>): void;
}

interface DueRow
  extends Omit<PaymentRow, 'paymentId'>,
    RefundColumns,
    SecretRow,
    Pick<DueDelivery, 'url' | 'ed25519' | 'attempts' | 'isHanging' | 'isBacklog'> {
  /** Null if the payment is archived. */
  paymentId: string | null;
  owner: string;
  endpoint: string;
  payment_mode: Mode;
  payment_id: string;
  event_id: bigint;
}

/** The due deliveries of these endpoints: the oldest of each, as many as it has free slots. */
export async function readDue(
  db: Queryable,
  clock: Clock,
  vault: Vault,
  { instance, endpoints, limit, except, onUnreadableSecret }: DueOptions,
): Promise<DueDelivery[]> {
  const nowMs = clock.nowMs();
  const { rows } = await db.query<DueRow>({
    name: 'read due deliveries',
    text: `SELECT ${paymentColumns('p')}, d.partner_id AS owner, d.endpoint_id AS endpoint, d.mode AS payment_mode, d.payment_id, d.event_id,
                  d.attempts, w.url, w.secret, w.old_secret, w.old_secret_until, w.ed25519, w.hanging AS "isHanging", d.event_id <= coalesce(w.kept_until, 0) AS "isBacklog",
                  ${refundColumns('r')}
             FROM unnest($1::uuid[], $2::int[]) AS s (endpoint_id, free)
             JOIN endpoints w ON w.endpoint_id = s.endpoint_id AND w.lease_holder = $5 AND w.suspended_at IS NULL
            CROSS JOIN LATERAL (
                  SELECT * FROM deliveries d
                   WHERE d.endpoint_id = s.endpoint_id AND d.failed_at IS NULL AND d.next_at <= $3 AND ${isFree}
                   ORDER BY d.next_at, d.event_id LIMIT s.free) AS d
             LEFT JOIN payments p ON p.partner_id = d.partner_id AND p.mode = d.mode AND p.id = d.payment_id
             LEFT JOIN refunds r ON r.partner_id = d.partner_id AND r.mode = d.mode AND r.event_id = d.event_id
            LIMIT $6`,
    values: [
      endpoints.map(({ endpointId }) => uuidFromId(endpointId)),
      endpoints.map(({ free }) => free),
      new Date(nowMs),
      except.map(({ eventId }) => eventId),
      instance,
      limit,
      except.map(({ endpointId }) => uuidFromId(endpointId)),
    ],
  });
  // The statement guarantees no order, and a backlog goes out in the order of its events.
  rows.sort((a, b) => (a.event_id < b.event_id ? -1 : 1));
  const due = await Promise.all(rows.map(async row => ({ row, payment: await paymentOf(db, row) })));
  return due.flatMap(({ row, payment }) => {
    if (!payment) return [];
    const { partnerId } = payment;
    const endpointId = idFromUuid('whe', row.endpoint);
    const { url, ed25519, attempts, isHanging, isBacklog } = row;
    try {
      return {
        ...{ partnerId, endpointId, url, ed25519, attempts, isHanging, isBacklog },
        event: { eventId: row.event_id, payment, refund: refundOf(row) },
        secrets: decryptSecrets(vault, { partnerId, endpointId }, row, nowMs),
      };
    } catch {
      onUnreadableSecret(partnerId, endpointId);
      return [];
    }
  });
}

/** SQL: the delivery is none of `except`. Nearly always its event is none of those, which costs less to see. */
const isFree = `NOT (d.event_id = ANY ($4::bigint[])
  AND EXISTS (SELECT FROM unnest($4::bigint[], $7::uuid[]) AS x (event_id, endpoint_id)
               WHERE x.event_id = d.event_id AND x.endpoint_id = d.endpoint_id))`;

/** The event of an archived payment is due when it was sent again by hand, or when money has come back. */
const paymentOf = async (db: Queryable, row: DueRow): Promise<Payment | undefined> =>
  row.paymentId === null
    ? findPayment(
        db,
        { partnerId: idFromUuid('prt', row.owner), mode: row.payment_mode },
        idFromUuid('pay', row.payment_id),
      )
    : toPayment(row as PaymentRow);
