import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { idFromUuid, uuidFromId } from '../../src/base/ids.ts';
import type { Program } from '../faults/program.ts';
import type { Round } from '../faults/round.ts';
import { until } from '../faults/wait.ts';
import type { Partner } from '../faults/world.ts';

interface Feed {
  partner: Partner;
  cursor: string;
  /** The payment of each event, by the number of the event. */
  seen: Map<number, string>;
}

interface Page {
  data: { id: string; data: { id: string } }[];
  next_cursor: string;
}

const readEveryMs = 150;
const readWithinMs = 3_000;
const catchUpWithinMs = 15_000;
const numberOf = (eventId: string) => Number(eventId.slice('evt_'.length));

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
    for (const feed of feeds) {
      const recorded = await recordedEvents(round, feed.partner);
      const hasAll = () => [...recorded.keys()].every(id => feed.seen.has(id));
      await until('the feed has every event', catchUpWithinMs, hasAll).catch(() => {});
      compare(round, feed, recorded);
    }
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

async function recordedEvents({ world }: Round, { partnerId }: Partner): Promise<Map<number, string>> {
  const { rows } = await world.pool.query<{ id: bigint; payment_id: string }>(
    "SELECT id, payment_id FROM events WHERE partner_id = $1 AND mode = 'live'",
    [uuidFromId(partnerId)],
  );
  return new Map(rows.map(row => [Number(row.id), idFromUuid('pay', row.payment_id)]));
}

function compare(round: Round, { partner, seen }: Feed, recorded: Map<number, string>): void {
  for (const [id, payment] of recorded) {
    const seenPayment = seen.get(id);
    if (seenPayment === undefined) round.findings.push(`${partner.partnerId} never saw evt_${id}`);
    else if (seenPayment !== payment)
      round.findings.push(`evt_${id} was about ${seenPayment} and is about ${payment}`);
  }
  const answered = new Set(recorded.values());
  const forgotten = [...new Set(seen.values())].filter(payment => !answered.has(payment));
  if (forgotten.length > 0)
    round.findings.push(`events were seen of payments without one now: ${forgotten.join(', ')}`);
}
