import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { idFromUuid, uuidFromId } from '../../src/base/ids.ts';
import { type Program, until } from '../faults/programs.ts';
import type { Round } from '../faults/round.ts';
import type { Partner } from '../faults/world.ts';

/** What a partner has seen of its events. */
interface EventsOf {
  partner: Partner;
  /** The payment of each event, by the number of the event. */
  seen: Map<number, string>;
}

const numberOf = (eventId: string) => Number(eventId.slice('evt_'.length));

/** At the end of a round: the partner sees every event that is on record, and saw no id with two payments. */
async function checkSeen(round: Round, by: string, { partner, seen }: EventsOf): Promise<void> {
  const recorded = await recordedEvents(round, partner);
  const hasAll = () => [...recorded.keys()].every(id => seen.has(id));
  await until(`the ${by} has every event`, hasAll).catch(() => {});
  for (const [id, payment] of recorded) {
    const seenPayment = seen.get(id);
    if (seenPayment === undefined) round.findings.push(`${partner.partnerId} never saw evt_${id} by ${by}`);
    else if (seenPayment !== payment)
      round.findings.push(`evt_${id} was about ${seenPayment} by ${by} and is about ${payment}`);
  }
  const answered = new Set(recorded.values());
  const forgotten = [...new Set(seen.values())].filter(payment => !answered.has(payment));
  if (forgotten.length > 0)
    round.findings.push(`events of payments without one now were seen by ${by}: ${forgotten.join(', ')}`);
}

async function recordedEvents({ world }: Round, { partnerId }: Partner): Promise<Map<number, string>> {
  const { rows } = await world.pool.query<{ id: bigint; payment_id: string }>(
    "SELECT id, payment_id FROM events WHERE partner_id = $1 AND mode = 'live'",
    [uuidFromId(partnerId)],
  );
  return new Map(rows.map(row => [Number(row.id), idFromUuid('pay', row.payment_id)]));
}

interface Feed extends EventsOf {
  cursor: string;
}

interface Page {
  data: { id: string; data: { id: string } }[];
  next_cursor: string;
}

const readEveryMs = 150;
const readWithinMs = 3_000;

/**
 * Partners that read their feed all the time, each from its own cursor. At the end of the round each must have seen every
 * event that is on record, and no id with two payments.
 */
export function followFeeds(round: Round, services: Program[]): void {
  const feeds = round.partners.map((partner): Feed => ({ partner, cursor: 'evt_0', seen: new Map() }));
  let stopped = false;
  const reading = Promise.all(
    feeds.map(async feed => {
      while (!stopped) {
        await readPage(round, feed, round.random.pick(services)).catch(() => {});
        await sleep(readEveryMs);
      }
    }),
  );
  round.atTheEnd.push(async () => {
    for (const feed of feeds) await checkSeen(round, 'feed', feed);
    stopped = true;
    await reading;
  });
}

async function readPage(round: Round, feed: Feed, service: Program): Promise<void> {
  const { statusCode, body } = await request(`${service.address}/v1/events?after=${feed.cursor}`, {
    dispatcher: round.world.agent,
    signal: AbortSignal.timeout(readWithinMs),
    headers: { authorization: `Bearer ${feed.partner.key}` },
  });
  if (statusCode !== 200) {
    const text = await body.text();
    if (![429, 503].includes(statusCode))
      round.findings.push(`the feed after ${feed.cursor}: ${statusCode} ${text}`);
    return;
  }
  const page = (await body.json()) as Page;
  for (const { id, data } of page.data) {
    if (numberOf(id) <= numberOf(feed.cursor))
      round.findings.push(`the feed went back from ${feed.cursor} to ${id}`);
    feed.seen.set(numberOf(id), data.id);
    feed.cursor = id;
  }
}

/**
 * Partners with a webhook each. At the end of the round each must have received every event that is on record, and none with
 * two payments.
 */
export async function receiveWebhooks(round: Round): Promise<void> {
  const partners = new Map(
    round.partners.map((partner): [string, EventsOf] => [partner.partnerId, { partner, seen: new Map() }]),
  );
  const server = createServer(async (request, response) => {
    const { id, data } = (await json(request)) as { id: string; data: { id: string } };
    const { seen } = partners.get(request.url!.slice(1))!;
    const first = seen.get(numberOf(id)) ?? data.id;
    seen.set(numberOf(id), first);
    if (first !== data.id) round.findings.push(`${id} was sent for ${first} and for ${data.id}`);
    response.writeHead(200).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  for (const partner of round.partners)
    await round.world.setWebhook(partner, `http://127.0.0.1:${port}/${partner.partnerId}`);
  round.atTheEnd.push(async () => {
    for (const partner of partners.values()) await checkSeen(round, 'webhook', partner);
    server.closeAllConnections();
    server.close();
  });
}
