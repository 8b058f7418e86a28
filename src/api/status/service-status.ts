import { listOpenSubjects } from '../../alarms/index.ts';
import { type Clock, instantOf } from '../../base/clock.ts';
import { listMaintenance, readPaymentStops } from '../../controls/index.ts';
import type { Queryable } from '../../db/postgres/index.ts';
import { countDelayedPartners } from '../../payments/index.ts';
import { isStale, readCurrentRate } from '../../rates/index.ts';
import { readLatenessSec } from '../../webhooks/index.ts';
import type { ApiDeps } from '../deps.ts';

/** Best first. */
const componentStates = ['operational', 'degraded', 'down'] as const;
export type ComponentState = (typeof componentStates)[number];

export const components = ['payments', 'webhooks', 'rate'] as const;

export interface ServiceStatus {
  payments: ComponentState;
  webhooks: ComponentState;
  rate: ComponentState;
  /** Undefined: the database does not answer. */
  maintenance:
    | {
        isOn: boolean;
        /** Open and planned ones, the next first. */
        windows: { from: Date; until: Date }[];
      }
    | undefined;
  checkedAt: Date;
}

type StatusDeps = Pick<ApiDeps, 'clock' | 'heartbeat' | 'rateMaxAgeSec'> & {
  /** Not the connections of payments. */
  reads: Pick<ApiDeps['reads'], 'byKey'>;
};

/** Anybody may ask, so the database is asked once for all who ask in this time. */
const keptMs = 3_000;
/** Browsers and monitors get their answer within a second, whatever the database does. */
const maxWaitMs = 800;

/** What partners can expect of the service now. Without an answer of the database in time, everything is down. */
export function createServiceStatus(deps: StatusDeps): () => Promise<ServiceStatus> {
  const { clock, heartbeat } = deps;
  let latest: { status: ServiceStatus; atMs: number } | undefined;
  let reading: Promise<ServiceStatus> | undefined;

  async function readAndKeep(): Promise<ServiceStatus> {
    const status = await readStatus(deps);
    latest = { status, atMs: clock.monotonicMs() };
    return status;
  }

  return async () => {
    if (!heartbeat.isDatabaseAnswering()) return unreachable(clock);
    if (latest && clock.monotonicMs() - latest.atMs < keptMs) return latest.status;
    reading ??= readAndKeep().finally(() => {
      reading = undefined;
    });
    const answered = new AbortController();
    const late = clock.sleep(maxWaitMs, answered.signal).then(() => unreachable(clock));
    const read = reading.catch(() => unreachable(clock));
    return Promise.race([read, late]).finally(() => answered.abort());
  };
}

const unreachable = (clock: Clock): ServiceStatus => ({
  payments: 'down',
  webhooks: 'down',
  rate: 'down',
  maintenance: undefined,
  checkedAt: instantOf(clock),
});

/** One statement after the other: a public page takes one connection at a time. */
async function readStatus(deps: StatusDeps): Promise<ServiceStatus> {
  const { clock, heartbeat, reads } = deps;
  const db = reads.byKey;
  const stops = await readPaymentStops(db, clock);
  const rate = await rateState(deps);
  // Without commits no payment begins and no attempt is recorded.
  const hasCommits = heartbeat.whyNone() === undefined;
  const isStopped = !hasCommits || stops.isUnderMaintenance || stops.isRecovering || rate === 'down';
  return {
    payments: isStopped ? 'down' : await paymentsState(db, clock),
    webhooks: hasCommits ? await webhooksState(db, clock) : 'down',
    rate,
    maintenance: {
      isOn: stops.isUnderMaintenance,
      windows: (await listMaintenance(db, clock)).map(({ from, until }) => ({ from, until })),
    },
    checkedAt: instantOf(clock),
  };
}

/** A stale rate stops payments; until then it has missed some refreshes. */
async function rateState({ reads, clock, rateMaxAgeSec }: StatusDeps): Promise<ComponentState> {
  const rate = await readCurrentRate(reads.byKey);
  if (!rate || isStale(rate, clock, rateMaxAgeSec)) return 'down';
  return isStale(rate, clock, rateMaxAgeSec / 2) ? 'degraded' : 'operational';
}

/** Most payments end within seconds. */
const delayedMs = 10 * 60_000;
/** What one partner waits for is no business of others. */
const delayedPartners = 2;

async function paymentsState(db: Queryable, clock: Clock): Promise<ComponentState> {
  // The circuit breaker of any process: it refuses new payments.
  if ((await listOpenSubjects(db, 'gateway_unreachable')).length > 0) return 'down';
  const delayed = await countDelayedPartners(db, new Date(clock.nowMs() - delayedMs));
  return delayed < delayedPartners ? 'operational' : 'degraded';
}

const lateSec = { degraded: 120, down: 600 };

async function webhooksState(db: Queryable, clock: Clock): Promise<ComponentState> {
  const sec = await readLatenessSec(db, clock);
  if (sec > lateSec.down) return 'down';
  return sec > lateSec.degraded ? 'degraded' : 'operational';
}

/** The worst of all components. */
export const overallState = (status: ServiceStatus): ComponentState =>
  componentStates.findLast(state => components.some(name => status[name] === state))!;
