import type { Call, Order, SeenPayment } from './history.ts';
import type { Round } from './round.ts';

interface Sighting {
  payment: SeenPayment;
  startedMs: number;
  endedMs: number;
}

/** All answers about a payment must agree, whichever process gave them and in whatever order they arrived. */
export function checkHistory(round: Round): void {
  for (const [key, calls] of callsByKey(round)) {
    const sightings = calls.flatMap(({ result, startedMs, endedMs }) =>
      'payment' in result && result.payment ? [{ payment: result.payment, startedMs, endedMs }] : [],
    );
    for (const finding of findContradictions(round, sightings)) round.findings.push(`key ${key}: ${finding}`);
  }
  for (const { result } of round.calls) {
    if (result.kind === 'balance' && !/^\d+\.\d{6}$/.test(result.usdt))
      round.findings.push(`a balance of ${result.usdt}`);
  }
}

function callsByKey({ calls }: Round): Map<string, Call[]> {
  const ofPayments = calls.filter(({ order }) => order !== undefined);
  return Map.groupBy(ofPayments, ({ order }) => order!.key);
}

/** The final answer for each key; undefined when the payment was refused. */
export function endsByKey(round: Round): Map<string, { order: Order; end: SeenPayment | undefined }> {
  return new Map(
    Array.from(callsByKey(round), ([key, calls]) => {
      const ok = calls.map(({ result }) => result).find(({ kind }) => kind === 'ok');
      return [key, { order: calls[0]!.order!, end: ok?.kind === 'ok' ? ok.payment : undefined }];
    }),
  );
}

/** The time at which a payment ended is not on record at the bank side: a rebuilt one ends when it was asked for. */
const lostWithHistory = { settled_at: null };

function findContradictions({ historyIsLost }: Round, sightings: Sighting[]): string[] {
  const found: string[] = [];
  const ids = new Set(sightings.map(({ payment }) => payment.id));
  if (ids.size > 1) found.push(`it has ${ids.size} payments: ${[...ids].join(', ')}`);
  const ends = sightings.filter(({ payment }) => payment.status !== 'processing');
  const answers = new Set(
    ends.map(({ payment }) => JSON.stringify(historyIsLost ? { ...payment, ...lostWithHistory } : payment)),
  );
  if (answers.size > 1) found.push(`it ended in several ways: ${[...answers].join(' and ')}`);
  const firstEndMs = Math.min(...ends.map(({ endedMs }) => endedMs));
  const revived = sightings.find(
    ({ payment, startedMs }) => !historyIsLost && payment.status === 'processing' && startedMs > firstEndMs,
  );
  if (revived) found.push(`${revived.payment.id} was processing again after its end`);
  return found;
}
