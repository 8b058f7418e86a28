import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, refusal } from './answer.ts';
import type { Bank } from './bank.ts';
import { type CallName, type Fault, kinds, type Stage } from './faults.ts';

export interface Call {
  on: CallName;
  qrcId: string | null;
  paymentId?: string;
}

const sayNothingAccepted = ['busy', 'unavailable', 'changed_qr'];

/** The first fault for this stage of the call, counted as used. */
export function takeFault({ state, record }: Bank, stage: Stage, call: Call): Fault | undefined {
  // These answers mean that no order was accepted. The contract relies on it, so an accepted order never gets one.
  const isAccepted = call.on === 'pay' && state.orders.has(call.paymentId ?? '');
  for (const fault of state.faults.values()) {
    const fits = fault.on === call.on && (fault.qrc_id === null || fault.qrc_id === call.qrcId);
    if (!fits || kinds[fault.kind].stage !== stage) continue;
    if (isAccepted && sayNothingAccepted.includes(fault.kind)) continue;
    if (fault.times !== null) record({ type: 'fault_used', id: fault.id });
    return fault;
  }
  return undefined;
}

/** Carries a call out with the faults that are set for it: delayed, refused, or its answer damaged. */
export async function withFaults(bank: Bank, call: Call, carryOut: () => Answer): Promise<Answer> {
  const delay = takeFault(bank, 'wait', call);
  if (delay) {
    await bank.flushed();
    // The call goes on even if the client disconnects meanwhile.
    await sleep(delay.ms);
  }
  const refusing = takeFault(bank, 'before', call);
  if (refusing) return failureAnswer(refusing);
  const answer = carryOut();
  const damaging = takeFault(bank, 'answer', call);
  if (!damaging) return answer;
  const damages = { answer_lost: 'lost', broken_json: 'cut', stall: 'stalled' } as const;
  return { ...answer, damage: damages[damaging.kind as keyof typeof damages] };
}

const refusals: Partial<Record<Fault['kind'], Answer>> = {
  busy: refusal(429, 'BUSY', 'Too many orders at once.'),
  unavailable: refusal(503, 'UNAVAILABLE', 'Temporarily unavailable.'),
  changed_qr: refusal(409, 'QR_CHANGED', 'The QR code has changed since it was resolved.'),
  unresolvable: refusal(422, 'QR_UNRESOLVABLE', 'The details of the QR code are not available right now.'),
};

function failureAnswer({ kind, status = 502, body }: Fault): Answer {
  if (kind !== 'http_error') return refusals[kind] ?? { status: 0, body: null, damage: 'lost' };
  const page = `<html><body><h1>${status}</h1></body></html>`;
  return { status, body: body ?? page, contentType: 'text/html' };
}
