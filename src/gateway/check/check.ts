import { formatKopecks } from '../../base/money.ts';
import { listingChecks } from './listing.ts';
import { payingChecks } from './paying.ts';
import { qrChecks, readingChecks, sinceCheck } from './reading.ts';
import {
  type Check,
  CheckFailed,
  CheckSkipped,
  createWorld,
  fail,
  type GatewayCheckOptions,
  type World,
} from './world.ts';

/** About all answers together, so they come last. */
const closingChecks: Check[] = [
  sinceCheck,
  {
    name: 'content type',
    rule: 'Every answer that the contract describes is application/json.',
    run: async ({ client }) => {
      const other = client.observed.find(
        ({ status, contentType }) =>
          [200, 404, 409].includes(status) && !/^application\/json\s*(?:;|$)/i.test(contentType),
      );
      if (other) fail(`${other.request}: ${other.contentType.slice(0, 60) || 'none'}`);
    },
  },
  {
    name: 'response times',
    rule: 'Answers come within half of the time that Kopeck waits: 25 s for PUT, 5 s for all others. If the bank is slower, answer `accepted` first.',
    run: async ({ client: { observed, timeouts } }) => {
      const slow = observed.find(
        ({ isPay, durationMs }) => durationMs > (isPay ? timeouts.payMs : timeouts.otherMs) / 2,
      );
      if (slow) fail(`${slow.request}: ${slow.durationMs} ms`);
    },
  },
];

export interface GatewayCheckResult {
  name: string;
  rule: string;
  outcome: 'passed' | 'failed' | 'skipped';
  /** What the adapter did, or why it was skipped; empty if it passed. */
  detail: string;
  durationMs: number;
}

export type GatewayCheck = Awaited<ReturnType<typeof checkGateway>>;

/** A code of more is not paid: it is not one of a test stand. */
const maxTestKopecks = 10_000n;
/** Tests an adapter to a bank against the wire contract, one call after another except where the check is about that. */
export async function checkGateway(options: GatewayCheckOptions) {
  const { pays, clock } = options;
  const world = createWorld(options);
  const withOrders = [...payingChecks, ...listingChecks];
  const checks = [...readingChecks, ...qrChecks, ...withOrders, ...closingChecks];
  const results: GatewayCheckResult[] = [];
  for (const check of checks) {
    const reason = blockedBy(world) ?? reasonToSkip(check, pays, world);
    const startedMs = clock.monotonicMs();
    const { outcome, detail } = reason
      ? { outcome: 'skipped' as const, detail: reason }
      : await runCheck(check, world);
    const durationMs = Math.round(clock.monotonicMs() - startedMs);
    results.push({ name: check.name, rule: check.rule, outcome, detail, durationMs });
    options.onProgress?.(results.length, checks.length);
  }
  return {
    results,
    passed: results.every(({ outcome }) => outcome !== 'failed'),
    /** Why no check after the first was made. */
    blocked: blockedBy(world),
    /** Orders that the adapter accepted, and the amount of each. */
    orders: world.accepted.length,
    amountKopecks: world.amountKopecks,
    /** More that it accepted although it must not, perhaps over other amounts. */
    wronglyAccepted: world.wronglyAccepted,
  };
}

/** Why nothing more can be found out: the first call says it. */
function blockedBy({ client: { observed } }: World): string | undefined {
  const status = observed[0]?.status;
  if (status === 0) return 'the adapter cannot be reached';
  return status === 401 || status === 403 ? 'the adapter rejects the token' : undefined;
}

function reasonToSkip(check: Check, pays: boolean, { qrUrl, amountKopecks }: World): string | undefined {
  const needsOrders = payingChecks.includes(check) || listingChecks.includes(check);
  if (!qrUrl && (needsOrders || qrChecks.includes(check))) return 'needs --qr';
  if (!needsOrders) return undefined;
  if (!pays) return 'needs --pay';
  return amountKopecks > maxTestKopecks
    ? `the code is over ${formatKopecks(amountKopecks)} RUB: only codes of up to ${formatKopecks(maxTestKopecks)} RUB are paid`
    : undefined;
}

async function runCheck(check: Check, world: World): Promise<Pick<GatewayCheckResult, 'outcome' | 'detail'>> {
  try {
    await check.run(world);
    return { outcome: 'passed', detail: '' };
  } catch (error) {
    if (error instanceof CheckFailed) return { outcome: 'failed', detail: error.message };
    if (error instanceof CheckSkipped) return { outcome: 'skipped', detail: error.message };
    throw error;
  }
}
