import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { type Clock, instantOf } from '../../base/clock.ts';
import { newId } from '../../base/ids.ts';
import { type Event, envelope, eventHeaders, formatEventId } from '../delivery/envelope.ts';
import { type StandardHeaders, sign, standardHeaders } from '../delivery/signatures.ts';
import type { SendResult } from '../http/post.ts';
import type { Sender } from '../http/sender.ts';

/** One probe of a receiver and its result. The answer itself is not kept, only whether it was right. */
export interface CheckResult {
  name: string;
  expected: 'accept' | 'refuse';
  status: number | null;
  error: string | null;
  durationMs: number;
  passed: boolean;
}

export interface WebhookCheck {
  results: CheckResult[];
  /** It accepts a valid event, so events can be sent to it. The other probes are about what it must refuse. */
  canReceive: boolean;
  passed: boolean;
  tls: { protocol: string; validUntil: string } | null;
}

/** The mode of the payment in the probes, also for an endpoint of live events: keys of live mode sign nothing that did not happen. */
export const probeMode = 'test';

const tenMinutesSec = 600;

interface Probe {
  name: string;
  expected: CheckResult['expected'];
  signature: string;
  standard: StandardHeaders;
  body: string;
}

interface SigningWith {
  secrets: string[];
  /** If the endpoint asks for a signature that others can verify. */
  privateKey?: KeyObject | undefined;
}

const foreignSecret = 'whsec_c3RyYW5nZXIgc3RyYW5nZXIgc3RyYW5nZXIh';

/** What a receiver must accept, and what it must refuse. */
function probesOf(event: Event, { secrets, privateKey }: SigningWith, nowSec: number): Probe[] {
  const body = envelope(event);
  const signed = (by: string[], atSec: number, key = privateKey) => ({
    signature: sign(by, atSec, body),
    standard: standardHeaders(by, { id: formatEventId(event.eventId), atSec, body }, key),
  });
  const valid = signed(secrets, nowSec);
  const foreignKey = privateKey && generateKeyPairSync('ed25519').privateKey;
  return [
    { name: 'a valid event', expected: 'accept', ...valid, body },
    { name: 'the same event again', expected: 'accept', ...valid, body },
    { name: 'a wrong signature', expected: 'refuse', ...signed([foreignSecret], nowSec, foreignKey), body },
    {
      name: 'a timestamp ten minutes old',
      expected: 'refuse',
      ...signed(secrets, nowSec - tenMinutesSec),
      body,
    },
    {
      name: 'a changed body',
      expected: 'refuse',
      ...valid,
      body: body.replace('"amount_rub":"100.00"', '"amount_rub":"900.00"'),
    },
  ];
}

/**
 * Sends a receiver five probes, one after the other, about a payment that does not exist. All carry the header
 * `X-Service-Test`, and the payment is in test mode.
 */
export async function checkReceiver(
  { clock, sender }: { clock: Clock; sender: Sender },
  { url, ...signingWith }: SigningWith & { url: string },
): Promise<WebhookCheck> {
  const event = samplePayment(clock);
  const results: CheckResult[] = [];
  let tls: WebhookCheck['tls'] = null;
  for (const { signature, standard, body, ...probe } of probesOf(
    event,
    signingWith,
    Math.floor(clock.nowMs() / 1_000),
  )) {
    const headers = { ...eventHeaders(event, signature), ...standard, 'x-service-test': 'true' };
    const verdict = await sender.send({ url, headers, body });
    if (verdict.outcome === 'answered' && verdict.tls) tls = verdict.tls;
    results.push({ ...probe, ...resultOf(verdict, probe.expected) });
    // A receiver that cannot be reached gets no further probes.
    if (verdict.outcome === 'failed') break;
  }
  return {
    results,
    canReceive: results[0]!.passed,
    passed: results.every(({ passed }) => passed),
    tls,
  };
}

function resultOf(verdict: SendResult, expected: CheckResult['expected']) {
  const status = verdict.outcome === 'answered' ? verdict.status : null;
  const accepted = status !== null && status >= 200 && status < 300;
  return {
    status,
    error: verdict.outcome === 'failed' ? verdict.error : null,
    durationMs: verdict.durationMs,
    // A 5xx is a failure of the receiver, not a refusal.
    passed: expected === 'accept' ? accepted : status !== null && status >= 400 && status < 500,
  };
}

function samplePayment(clock: Clock): Event {
  const at = instantOf(clock);
  return {
    eventId: 0n,
    payment: {
      paymentId: newId('pay', clock),
      mode: probeMode,
      status: 'succeeded',
      statusDetail: null,
      externalId: null,
      recipient: 'Webhook check',
      amountKopecks: 10_000n,
      microUsdt: 1_081_082n,
      rateE4: 925_000n,
      metadata: '{"webhook_check":true}',
      errorCode: null,
      createdAt: at,
      settledAt: at,
    },
  };
}
