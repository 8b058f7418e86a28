import { type Clock, instantOf } from '../../base/clock.ts';
import { type Id, newId } from '../../base/ids.ts';
import { isOrderUnknown, readOrder, readRefusal } from '../answers.ts';
import type { OrderAnswer, ResolvedQr } from '../gateway.ts';
import { type CheckTimeouts, createCheckClient, describeReply, type Reply } from './client.ts';

/** The check found that the adapter breaks the contract. The message says what it did. */
export class CheckFailed extends Error {}

/** The check cannot be made. The message says why. */
export class CheckSkipped extends Error {}

export function fail(message: string): never {
  throw new CheckFailed(message);
}

export function skip(message: string): never {
  throw new CheckSkipped(message);
}

/** One rule of the contract. */
export interface Check {
  name: string;
  /** What a right adapter does; shown if the check fails. */
  rule: string;
  run(world: World): Promise<void>;
}

export interface GatewayCheckOptions {
  url: string;
  token: string | undefined;
  /** A code of the bank's test stand. */
  qrUrl?: string | undefined;
  /** Whether orders may be placed. */
  pays: boolean;
  clock: Clock;
  timeouts?: CheckTimeouts;
  finalTimeoutMs?: number;
  onProgress?(done: number, of: number): void;
}

/** If the payer chooses the amount. */
const ownTestKopecks = 1_000n;

export type World = ReturnType<typeof createWorld>;

/** What the checks share: the client, and what earlier checks found and made. */
export const createWorld = ({ url, token, qrUrl, clock, ...options }: GatewayCheckOptions) => ({
  client: createCheckClient({
    ...{ url, token, clock },
    timeouts: options.timeouts ?? { payMs: 50_000, otherMs: 10_000 },
  }),
  clock,
  startedAt: instantOf(clock),
  qrUrl,
  /** Set by the check that reads the QR code. */
  qr: undefined as ResolvedQr | undefined,
  amountKopecks: ownTestKopecks,
  finalTimeoutMs: options.finalTimeoutMs ?? 60_000,
  /** Orders that the adapter accepted, in the order in which they were placed. */
  accepted: [] as { paymentId: Id<'pay'>; orderId: string; reference: string }[],
  /** Ids under which nothing may be paid. */
  neverPaid: [] as Id<'pay'>[],
  /** How many orders the adapter accepted although it must not. */
  wronglyAccepted: 0,
});

/** Something was accepted that must not be: people should know that it may have been paid. */
export function failAccepted(world: World, message: string): never {
  world.wronglyAccepted += 1;
  fail(message);
}

export const newPaymentId = ({ clock }: World) => newId('pay', clock);

export interface OrderChanges {
  amountKopecks?: number | string | undefined;
  fingerprint?: string;
  reference?: string;
}

/** The request that pays the code of this run, or one that differs from it. */
export function sendOrder(world: World, paymentId: string, changes: OrderChanges = {}): Promise<Reply> {
  const qr = world.qr ?? skip('the QR code could not be read');
  const body = {
    qr_url: world.qrUrl,
    qrc_id: qr.qrcId,
    amount_kopecks: Number(world.amountKopecks),
    fingerprint: changes.fingerprint ?? qr.fingerprint,
    reference: changes.reference ?? 'check',
    ...('amountKopecks' in changes ? { amount_kopecks: changes.amountKopecks } : {}),
  };
  return world.client.send({ method: 'PUT', path: `/orders/${paymentId}`, body });
}

export const getOrder = ({ client }: World, paymentId: string) =>
  client.send({ method: 'GET', path: `/orders/${paymentId}` });

export const sendVoid = ({ client }: World, paymentId: string) =>
  client.send({ method: 'POST', path: `/orders/${paymentId}/void` });

export const refusalOf = (reply: Reply) => readRefusal(reply)?.code;

/** The order in an answer, as the service reads it; undefined if it is none. */
export function orderIn(reply: Reply, kopecks: bigint): OrderAnswer | undefined {
  const read = readOrder(reply, kopecks);
  return read.outcome === 'unknown' ? undefined : read;
}

/** The order in an answer that must have one. */
export function expectOrder(world: World, what: string, reply: Reply): OrderAnswer {
  if (reply.error !== null) fail(`${what}: ${reply.error}`);
  const read = readOrder(reply, world.amountKopecks);
  // `status 200` says nothing that the answer does not.
  if (read.outcome === 'unknown') fail(`${what}: ${describeReply(reply)}, which is read as ${read.why}`);
  return read;
}

/** The order as GET shows it. */
export const shownOrder = async (world: World, paymentId: string): Promise<OrderAnswer> =>
  expectOrder(world, 'GET', await getOrder(world, paymentId));

/** Kopeck ends the payment with the first final answer: a later one that differs costs its amount. */
export function expectStaysFinal(what: string, answered: OrderAnswer, now: OrderAnswer): void {
  if (answered.outcome !== 'accepted' && now.outcome !== answered.outcome)
    fail(`${what} was ${answered.outcome}, and GET shows ${now.outcome}: a final state never changes`);
}

export async function expectUnknown(world: World, paymentId: string, when: string): Promise<void> {
  const reply = await getOrder(world, paymentId);
  if (!isOrderUnknown(reply)) fail(`GET ${when}: ${describeReply(reply)}, not 404 ORDER_UNKNOWN`);
}

export const firstOrder = ({ accepted }: World) => accepted[0] ?? skip('no order was accepted before');

export const isClientError = ({ status }: Reply) => status >= 400 && status < 500;
