import { setTimeout as sleep } from 'node:timers/promises';
import type { Bank } from './bank.ts';
import { type CallName, type Fault, kinds, type Stage } from './faults.ts';
import { type Answer, refusal } from './http.ts';

export interface Call {
  on: CallName;
  qrcId: string | null;
  paymentId?: string;
}

const refusals = ['busy', 'unavailable', 'changed_qr'];

export function takeFault({ state, record }: Bank, stage: Stage, call: Call): Fault | undefined {
  // These say that nothing was accepted, so they are never said of an order that was: the contract builds on it.
  const isAccepted = call.on === 'pay' && state.orders.has(call.paymentId ?? '');
  for (const fault of state.faults.values()) {
    const fits = fault.on === call.on && (fault.qrc_id === null || fault.qrc_id === call.qrcId);
    if (!fits || kinds[fault.kind].stage !== stage) continue;
    if (isAccepted && refusals.includes(fault.kind)) continue;
    if (fault.times !== null) record({ type: 'fault_used', id: fault.id });
    return fault;
  }
  return undefined;
}

/** Carries a call out, unless a fault prevents it, and sends the answer on, unless a fault spoils it. */
export async function underFaults(bank: Bank, call: Call, carryOut: () => Answer): Promise<Answer> {
  const delay = takeFault(bank, 'wait', call);
  if (delay) {
    await bank.flushed();
    // A client that gives up meanwhile does not stop the bank.
    await sleep(delay.ms);
  }
  const obstacle = takeFault(bank, 'before', call);
  if (obstacle) return obstructed(obstacle);
  const answer = carryOut();
  const spoiler = takeFault(bank, 'answer', call);
  if (!spoiler) return answer;
  const spoilt = { answer_lost: 'lost', broken_json: 'cut', stall: 'stalled' } as const;
  return { ...answer, spoilt: spoilt[spoiler.kind as keyof typeof spoilt] };
}

function obstructed({ kind, status = 502, body }: Fault): Answer {
  switch (kind) {
    case 'busy':
      return refusal(429, 'BUSY', 'Too many orders at once.');
    case 'unavailable':
      return refusal(503, 'UNAVAILABLE', 'Not in service right now.');
    case 'changed_qr':
      return refusal(409, 'QR_CHANGED', 'The QR code is not what it was when it was resolved.');
    case 'unresolvable':
      return refusal(422, 'QR_UNRESOLVABLE', 'The details of the QR code cannot be had right now.');
    case 'http_error':
      return {
        status,
        body: body ?? `<html><body><h1>${status}</h1></body></html>`,
        contentType: 'text/html',
      };
    default:
      return { status: 0, body: null, spoilt: 'lost' };
  }
}
