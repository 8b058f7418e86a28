import { createAdmission, createServer, listen } from '../api/index.ts';
import type { Settings } from '../base/settings.ts';
import { startBot } from '../bot/index.ts';
import { type ConsoleDeps, createConsole } from '../console/index.ts';
import { openAuditHeads } from '../db/audit/index.ts';
import type { Database, PoolAndClock } from '../db/index.ts';
import { openConnections, withCircuitBreaker } from '../db/postgres/index.ts';
import { createAuthenticator, createRateLimiter } from '../partners/index.ts';
import { createPortal, type PortalDeps } from '../portal/index.ts';
import type { ClusterChannel } from './cluster-channel.ts';
import { type Cleanup, shutDown } from './graceful-shutdown.ts';
import { readMetricsOf } from './metrics.ts';
import { servesPortal, servesRequests } from './pages.ts';
import { sharesPort } from './port.ts';
import { createSharedParts, type SharedParts } from './shared-parts.ts';
import { startWorker } from './worker.ts';

/** Starts the roles of this process; returns the address if it serves partners or operators. `shutDown` stops them. */
export async function startService(
  settings: Settings,
  database: PoolAndClock & Partial<Pick<Database, 'leave'>>,
  channel: ClusterChannel,
  cleanups: Cleanup[],
): Promise<string | undefined> {
  const { roles } = settings;
  const parts = await createSharedParts(settings, database, cleanups);
  channel.shareMetrics(readMetricsOf(parts.metrics, parts));
  // Beneath the server: what its last requests cause is still done.
  const ofWorker: Cleanup[] = [];
  cleanups.push(manner => shutDown(ofWorker, manner));
  const bot = roles.includes('bot') ? startBotIfConfigured(parts, channel, cleanups) : undefined;
  const onMade = async () => {
    // All loops ask at once, and then the first callers do.
    await openConnections(parts.pool);
    if (roles.includes('worker')) startWorker(parts, channel, ofWorker);
  };
  if (servesRequests(settings)) return startServer(parts, channel, { bot, cleanups, onMade });
  await onMade();
  return undefined;
}

type Bot = ReturnType<typeof startBot>;

function startBotIfConfigured(
  parts: SharedParts,
  { acquireImageLock }: ClusterChannel,
  cleanups: Cleanup[],
): Bot | undefined {
  const { telegramToken, publicUrl = `http://${parts.host}:${parts.port}` } = parts;
  if (telegramToken === undefined) return undefined;
  const conversationPool = parts.outside.conversations;
  parts.setBotLeader(false);
  const bot = startBot({
    ...parts,
    conversationPool,
    acquireImageLock,
    publicUrl,
    telegramToken,
    onLeading: parts.setBotLeader,
  });
  cleanups.push(bot.stop);
  return bot;
}

/** The console has connections of its own, for its reads, its changes and everybody who tries to sign in. */
function consoleDepsOf(parts: SharedParts): ConsoleDeps {
  const pool = parts.outside.console;
  const db = withCircuitBreaker(pool, parts.heartbeat.isDatabaseAnswering);
  return { ...parts, pool, db, auditHeads: openAuditHeads(parts) };
}

const portalDepsOf = (
  parts: SharedParts,
  { acquireImageLock }: ClusterChannel,
  payments: PortalDeps['payments'],
): PortalDeps => ({
  ...parts,
  payments,
  pool: parts.outside.conversations,
  acquireImageLock,
});

/** How long a request waits for a final answer. */
const answerWithinMs = 60_000;

/** Backpressure: a process prepares this many payments in well under a second; more requests would only queue. */
const maxBeforeDebit = 300;

/**
 * One server for the API, the portal, the console and the bot's webhook, as far as the roles ask for them. Making it holds the
 * event loop, on a slow machine for seconds: background work begins after that (`onMade`). Else its first connections and
 * calls would get their answers only after their time-outs, and an outage would be logged.
 */
async function startServer(
  parts: SharedParts,
  channel: ClusterChannel,
  { bot, cleanups, onMade }: { bot: Bot | undefined; cleanups: Cleanup[]; onMade: () => Promise<void> },
): Promise<string> {
  const { roles, pool, heartbeat, clock, keyring } = parts;
  const authenticator = createAuthenticator(pool, clock, keyring);
  cleanups.push(authenticator.close);
  const draining = new AbortController();
  const creating = {
    ...parts,
    rateLimiter: createRateLimiter(withCircuitBreaker(pool, heartbeat.isDatabaseAnswering), clock),
    admission: createAdmission(maxBeforeDebit),
    answerWithinMs,
  };
  const server = await createServer({
    ...creating,
    draining: draining.signal,
    authenticator,
    rendersDocsAhead: true,
    servesPartners: roles.includes('api'),
    console: roles.includes('console') ? createConsole(consoleDepsOf(parts)) : undefined,
    portal: servesPortal(parts) ? createPortal(portalDepsOf(parts, channel, creating)) : undefined,
    telegramReceiver: bot?.receiver,
  });
  cleanups.push(async manner => {
    // First callers are asked to leave, and the port closes when they have had time to.
    draining.abort();
    if (manner !== 'leave' && server.server.listening) await clock.sleep(parts.drainSec * 1_000);
    parts.outcomeWaiters.stop();
    // Together: the server drains the updates it has passed to the bot, and the bot waits for Telegram.
    await Promise.all([server.close(), bot?.stop()]);
  });
  server.addHook('onReady', onMade);
  return listen(server, { ...parts, sharesPort });
}
