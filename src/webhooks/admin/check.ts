import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { clearAlarmsOf } from '../../alarms/index.ts';
import { type Clock, instantOf } from '../../base/clock.ts';
import { type Id, newId, uuidFromId } from '../../base/ids.ts';
import { type AuditContext, recordChange } from '../../db/audit/index.ts';
import { writeNotice } from '../../db/notices/index.ts';
import { transaction } from '../../db/postgres/index.ts';
import type { Keyring } from '../../db/secrets/index.ts';
import { type Event, envelope, eventHeaders, formatEventId } from '../delivery/envelope.ts';
import { readSecrets, type Vault } from '../delivery/secret.ts';
import { sign, standardHeaders } from '../delivery/signatures.ts';
import { firstEndpointOf, isFirst, subjectOf } from '../first-endpoint.ts';
import type { TlsFacts } from '../http/connect.ts';
import type { SendResult } from '../http/post.ts';
import type { Sender } from '../http/sender.ts';
import { createSigningKeys } from '../signing/signing-keys.ts';
import { type Probed, problemOf } from './check-problem.ts';
import { findWebhook, nameInAudit, type Webhook } from './webhook.ts';

/** One probe of a receiver and its result. The answer itself is not kept, only whether it was right. */
export interface CheckResult extends Probed {
  durationMs: number;
  passed: boolean;
}

export type WebhookCheck = Awaited<ReturnType<typeof checkReceiver>>;

/** The mode of the payment in the probes, also for an endpoint of live events: keys of live mode sign nothing that did not happen. */
export const probeMode = 'test';

const tenMinutesSec = 600;

interface SigningWith {
  secrets: string[];
  /** If the endpoint asks for a signature that others can verify. */
  privateKey?: KeyObject | undefined;
}

const foreignSecret = 'whsec_c3RyYW5nZXIgc3RyYW5nZXIgc3RyYW5nZXIh';

/** What a receiver must accept, and what it must refuse. */
function probesOf(event: Event, { secrets, privateKey }: SigningWith, nowSec: number) {
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
  ] as const;
}

/**
 * Sends a receiver five probes, one after the other, about a payment that does not exist. All carry the header
 * `X-Service-Test`, and the payment is in test mode.
 */
export async function checkReceiver(
  { clock, sender }: { clock: Clock; sender: Sender },
  { url, ...signingWith }: SigningWith & { url: string },
) {
  const event = samplePayment(clock);
  const results: CheckResult[] = [];
  let tls: TlsFacts | null = null;
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
    /** It accepts a valid event, so events can be sent to it. The other probes are about what it must refuse. */
    canReceive: results[0]!.passed,
    passed: results.every(({ passed }) => passed),
    tls,
  };
}

function resultOf(verdict: SendResult, expected: CheckResult['expected']) {
  const problem = problemOf(verdict, expected);
  return {
    status: verdict.outcome === 'answered' ? verdict.status : null,
    error: verdict.outcome === 'failed' ? verdict.error : null,
    durationMs: verdict.durationMs,
    problem,
    passed: problem === null,
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

export type PartnerCheck =
  | { outcome: 'checked'; check: WebhookCheck; reEnabled: boolean }
  | { outcome: 'no_webhook' | 'not_allowed' };

interface CheckDeps {
  audit: AuditContext;
  sender: Sender;
  vault: Vault;
  keyring: Keyring;
}

const always = async () => true;

/**
 * Checks an endpoint of a partner, the first unless another is named. If it accepts valid events, a suspension ends. A check is slow, so `mayStillAct` is
 * called after it, before anything changes.
 */
export async function checkPartner(
  deps: CheckDeps,
  partnerId: Id<'prt'>,
  {
    endpointId = firstEndpointOf(partnerId),
    mayStillAct = always,
  }: { endpointId?: Id<'whe'> | undefined; mayStillAct?: () => Promise<boolean> } = {},
): Promise<PartnerCheck> {
  const { audit } = deps;
  const webhook = await findWebhook(audit.pool, partnerId, endpointId);
  if (!webhook) return { outcome: 'no_webhook' };
  const check = await checkOnce(deps, webhook);
  if (!(await mayStillAct())) return { outcome: 'not_allowed' };
  const { canReceive, passed } = check;
  await recordChange(audit.pool, audit, {
    action: 'webhook.check',
    subject: partnerId,
    after: { ...nameInAudit(partnerId, endpointId), can_receive: canReceive, passed },
  });
  const reEnabled = canReceive && (await reEnable(audit, webhook)) === 're_enabled';
  return { outcome: 'checked', check, reEnabled };
}

/** Checks under way, by endpoint and URL: a second caller gets the same result, so that the receiver is not checked twice. */
const underWay = new Map<string, Promise<WebhookCheck>>();

function checkOnce(deps: CheckDeps, webhook: Webhook): Promise<WebhookCheck> {
  const name = `${webhook.endpointId} ${webhook.url}`;
  const running = underWay.get(name);
  if (running) return running;
  const checking = runCheck(deps, webhook).finally(() => underWay.delete(name));
  underWay.set(name, checking);
  return checking;
}

/** Signed as its events are. */
async function runCheck(
  { audit: { pool, clock }, sender, vault, keyring }: CheckDeps,
  { partnerId, endpointId, url, ed25519 }: Webhook,
): Promise<WebhookCheck> {
  const secrets = await readSecrets(pool, vault, partnerId, clock.nowMs(), endpointId);
  // The log is for keys that are listed.
  const privateKey = ed25519
    ? await createSigningKeys(pool, clock, keyring, { error() {} }).current({ partnerId, mode: probeMode })
    : undefined;
  return checkReceiver({ clock, sender }, { url, secrets, privateKey });
}

/** As JSON, for the command line. */
export const checkObject = ({ results, canReceive, passed, tls }: WebhookCheck, reEnabled: boolean) => ({
  can_receive: canReceive,
  passed,
  re_enabled: reEnabled,
  tls: tls && { protocol: tls.protocol, valid_until: tls.validUntil },
  results: results.map(({ durationMs, ...result }) => ({ ...result, duration_ms: durationMs })),
});

/**
 * Ends the suspension of an endpoint, if its URL is still this one. The backlog goes out one by one in the order of events, each with the
 * whole retry schedule.
 */
export function reEnable(
  audit: AuditContext,
  { partnerId, endpointId, url }: Pick<Webhook, 'partnerId' | 'endpointId' | 'url'>,
): Promise<'re_enabled' | 'not_suspended'> {
  return transaction(audit.pool, async tx => {
    const { rowCount } = await tx.query({
      text: `UPDATE endpoints w
                SET suspended_at = NULL, given_up = 0, hanging = false, changed_at = $2,
                    kept_until = (SELECT max(event_id) FROM deliveries d
                                   WHERE d.endpoint_id = w.endpoint_id AND d.failed_at IS NULL)
              WHERE endpoint_id = $1 AND url = $3 AND suspended_at IS NOT NULL`,
      values: [uuidFromId(endpointId), instantOf(audit.clock), url],
    });
    if (rowCount === 0) return 'not_suspended';
    await tx.query({
      // Events are sent by their due time. Times of two processes may differ a little, so a later event is due no earlier.
      text: `UPDATE deliveries d SET attempts = 0, next_at = o.at
               FROM (SELECT k.event_id, max(e.at) OVER (ORDER BY k.event_id) AS at
                       FROM deliveries k CROSS JOIN LATERAL deliverable_event(k.partner_id, k.mode, k.event_id) AS e
                      WHERE k.endpoint_id = $1 AND k.failed_at IS NULL) AS o
              WHERE d.endpoint_id = $1 AND d.event_id = o.event_id AND (d.attempts > 0 OR d.next_at <> o.at)`,
      values: [uuidFromId(endpointId)],
    });
    await writeNotice(
      tx,
      audit.clock,
      partnerId,
      'sending_re_enabled',
      isFirst(partnerId, endpointId) ? {} : { url },
    );
    await clearAlarmsOf(tx, audit, subjectOf({ partnerId, endpointId }));
    await recordChange(tx, audit, {
      action: 'webhook.re_enable',
      subject: partnerId,
      after: nameInAudit(partnerId, endpointId),
    });
    return 're_enabled';
  });
}
