import { newOrder, pay } from './calls.ts';
import { createGatewayProxy } from './gateway-proxy.ts';
import type { Call } from './history.ts';
import type { Load } from './load.ts';
import { type Program, until } from './programs.ts';
import { check, count, limit, type Round } from './round.ts';

/** The bank side cuts connections, stalls and sends byte by byte; then it is unreachable for a while. */
export async function disturbGateway(round: Round, load: Load): Promise<Program[]> {
  // A circuit breaker belongs to a process, so each process has its own proxy. Only the shared service runs recovery.
  const drips = drip(round);
  const [services] = await Promise.all([cutAndStallGateway(round, load), openAndCloseBreaker(round), drips]);
  return services;
}

/** Connections break in the middle of calls, and some answers never come. */
export async function cutAndStallGateway(round: Round, load: Load): Promise<Program[]> {
  const { gateway } = round.world;
  const service = await round.world.sharedService();
  load.call(service);
  await load.succeeds();
  gateway.setCondition('unreliable');
  count(round, 'gateway cuts and stalls');
  const calls = round.calls.length;
  await until('calls have ended', () => round.calls.length > calls + 30);
  gateway.setCondition('fine');
  await load.succeeds();
  return [service];
}

/** A service with the API role only, and a proxy to the bank side that only it uses. */
async function startBehindProxy({ world, random, atTheEnd }: Round) {
  const proxy = await createGatewayProxy(world.simulator.address, random);
  atTheEnd.push(proxy.close);
  return { proxy, service: await world.startService({ gatewayUrl: proxy.url, roles: 'api' }) };
}

/** Resolving a QR code may take ten seconds, from its start to its last byte. */
const resolveLimitMs = 10_000;
const slackMs = 4_000;

/** Bytes keep arriving, so an idle timeout never fires: only a limit on the whole response ends it. */
async function drip(round: Round): Promise<void> {
  const { proxy, service } = await startBehindProxy(round);
  proxy.setCondition('dripping');
  count(round, 'gateway drips');
  const latestMs = resolveLimitMs + slackMs;
  const calls = await Promise.all(Array.from({ length: 3 }, () => pay(round, service, newOrder(round))));
  for (const { startedMs, endedMs, result } of calls) {
    const tookMs = endedMs - startedMs;
    limit(round, 'answer of a dripping gateway', tookMs, latestMs);
    const isRefused = result.kind === 'failed' && result.code === 'qr_unresolvable';
    check(round, isRefused, `a dripping gateway led to ${JSON.stringify(result)}`);
  }
}

const failuresToOpen = 10;
/** On a slow machine, and still without the 5 s of a connection or the 6.5 s of a statement. */
const atOnceMs = 3_000;

/** Circuit breaker: while the bank side is unreachable, payments are refused without a call; when it is back, they work. */
async function openAndCloseBreaker(round: Round): Promise<void> {
  const { proxy, service } = await startBehindProxy(round);
  proxy.setCondition('gone');
  count(round, 'gateway gone');
  const attempt = () => pay(round, service, newOrder(round));
  for (let failures = 0; failures < failuresToOpen; failures++) checkRefusal(round, await attempt());
  // It opens with a call that fails some seconds after the last one that did not.
  await until('the alarm is raised', async () => {
    checkRefusal(round, await attempt());
    return hasAlarm(round);
  });

  const triedBefore = proxy.accepted();
  const startedMs = performance.now();
  for (let calls = 0; calls < 30; calls++) checkRefusal(round, await attempt());
  const tried = proxy.accepted() - triedBefore;
  // Each partner may try by itself.
  const allowed = round.partners.length * (1 + Math.ceil((performance.now() - startedMs) / 1_000));
  check(round, tried <= allowed, `an open circuit breaker passed ${tried} calls, at most ${allowed} may`);

  proxy.setCondition('fine');
  const backMs = await until('payments go through again', async () => {
    const { result } = await attempt();
    return result.kind === 'ok';
  });
  limit(round, 'payments after the gateway is back', backMs, 15_000);
  await until('the alarm is cleared', async () => !(await hasAlarm(round)));
}

function checkRefusal(round: Round, { result, startedMs, endedMs }: Call): void {
  const isRefused = result.kind === 'failed' && result.code === 'gateway_unavailable';
  check(round, isRefused, `without a gateway: ${JSON.stringify(result)}`);
  const tookMs = endedMs - startedMs;
  limit(round, 'refusal without a gateway', tookMs, atOnceMs);
}

async function hasAlarm({ world }: Round): Promise<boolean> {
  const { rowCount } = await world.pool.query(
    "SELECT FROM alarms WHERE kind = 'gateway_unreachable' AND cleared_at IS NULL",
  );
  return rowCount! > 0;
}
