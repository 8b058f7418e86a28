import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Fault } from './faults.ts';
import { openJournal } from './journal.ts';
import { lockFolder } from './lock.ts';
import type { SimulatedQr } from './qr.ts';

/** An order as the wire shows it. */
export interface ShownOrder {
  payment_id: string;
  order_id: string;
  state: 'accepted' | 'succeeded' | 'declined';
  reason: string | null;
  amount_kopecks: number;
  qrc_id: string;
  created_at: string;
  updated_at: string;
  /** As the PUT sent it; older lines of a journal have none. */
  reference?: string;
  /** Of a succeeded order. */
  operation_number?: string;
}

export interface Order extends ShownOrder {
  /** The amount of the PUT; a fault may have changed `amount_kopecks`. */
  asked_kopecks: number;
  /** How an accepted order ends, and when. Decided at the start, so that a restart needs no timers. */
  end: { at: string; state: 'succeeded' | 'declined'; reason: string | null } | null;
}

/** What a shop has returned of a paid order. */
export interface Refund {
  refund_id: string;
  payment_id: string;
  amount_kopecks: number;
  created_at: string;
  state: 'succeeded' | 'revoked';
}

export interface Rate {
  rate: string;
  /** Unix seconds; null: the time of each request. */
  frozen_as_of: number | null;
  down: boolean;
}

export type BankRecord =
  | { type: 'qr'; qr: SimulatedQr }
  | { type: 'order'; order: Order }
  | { type: 'void'; payment_id: string }
  | { type: 'refund'; refund: Refund }
  | { type: 'refund_revoked'; refund_id: string }
  | { type: 'fault'; fault: Fault }
  | { type: 'fault_used'; id: string }
  | { type: 'fault_cleared'; id: string | null }
  | { type: 'rate'; rate: Rate };

const newState = (rate: Rate) => ({
  qrs: new Map<string, SimulatedQr>(),
  orders: new Map<string, Order>(),
  /** The same orders in the order of arrival; the index is the cursor of the list. */
  ordersByArrival: [] as Order[],
  voided: new Set<string>(),
  /** In the order of arrival, by their ids. */
  refunds: new Map<string, Refund>(),
  /** The last order of each QR that was not declined at once. */
  lastOrders: new Map<string, Order>(),
  faults: new Map<string, Fault>(),
  rate,
});
type State = ReturnType<typeof newState>;

export type Bank = Awaited<ReturnType<typeof openBank>>;

export async function openBank(dir: string, rate: string, exitWith: (why: string) => never) {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  if (!(await lockFolder(dir))) exitWith(`SIMULATOR_DIR ${dir} is in use by another simulator.`);
  const state = newState({ rate, frozen_as_of: null, down: false });
  const replay = (record: BankRecord) => apply(state, record);
  const onDiskFailure = (error: unknown) => exitWith(`The journal in ${dir} cannot be written: ${error}`);
  const journal = await openJournal(join(dir, 'journal.jsonl'), replay, onDiskFailure);
  return {
    state,
    /** The only way to change the state: in memory at once, on disk before the answer. */
    record: (record: BankRecord): void => {
      apply(state, record);
      journal.append(record);
    },
    flushed: journal.flushed,
    close: journal.close,
  };
}

function apply(state: State, record: BankRecord): void {
  if (record.type === 'qr') state.qrs.set(record.qr.qrc_id, record.qr);
  else if (record.type === 'order') applyOrder(state, record.order);
  else if (record.type === 'void') state.voided.add(record.payment_id);
  else if (record.type === 'refund') state.refunds.set(record.refund.refund_id, record.refund);
  else if (record.type === 'refund_revoked') applyRevoked(state, record.refund_id);
  else if (record.type === 'fault') state.faults.set(record.fault.id, record.fault);
  else if (record.type === 'fault_used') applyFaultUsed(state, record.id);
  else if (record.type === 'rate') state.rate = record.rate;
  else if (record.id === null) state.faults.clear();
  else state.faults.delete(record.id);
}

function applyOrder(state: State, order: Order): void {
  state.orders.set(order.payment_id, order);
  state.ordersByArrival.push(order);
  if (order.state !== 'declined') state.lastOrders.set(order.qrc_id, order);
}

function applyRevoked({ refunds }: State, id: string): void {
  const refund = refunds.get(id);
  if (refund) refunds.set(id, { ...refund, state: 'revoked' });
}

function applyFaultUsed({ faults }: State, id: string): void {
  const fault = faults.get(id);
  if (!fault || fault.times === null) return;
  if (fault.times > 1) faults.set(id, { ...fault, times: fault.times - 1 });
  else faults.delete(id);
}

export function orderNow(order: Order, nowMs: number): ShownOrder {
  const { asked_kopecks: _asked, end, ...shown } = order;
  if (end === null || Date.parse(end.at) > nowMs) return withOperation(shown);
  return withOperation({ ...shown, state: end.state, reason: end.reason, updated_at: end.at });
}

/** As many characters as SBP has, made of the number of the order. */
const withOperation = (order: ShownOrder): ShownOrder =>
  order.state === 'succeeded'
    ? { ...order, operation_number: `A${order.order_id.slice('ord_'.length).padStart(31, '0')}` }
    : order;
