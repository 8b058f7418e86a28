import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import type { Program } from '../faults/program.ts';
import type { Round } from '../faults/round.ts';
import { checkSeen, type EventsOf, numberOf } from './seen-events.ts';

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
