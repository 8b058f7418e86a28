import { type Command, InvalidArgumentError } from 'commander';
import type { Kopeck, PaymentEvent } from '../../sdk/src/index.ts';
import { checkWebhookUrl, newSecret, parseEventId } from '../webhooks/index.ts';
import { findEndOfFeed, keepingBytes } from './feed-bytes.ts';
import { createForwarder, type Forwarded, type Tried } from './forward.ts';
import { RefusedError } from './refused.ts';
import { asked, connect, type Remote, remoteCommand } from './remote.ts';

interface ListenOptions extends Remote {
  json: boolean;
  forwardTo: string;
  secret?: string;
  from: string;
}

export const listenCommand = (): Command =>
  remoteCommand('listen', "forward a partner's events to an address on your machine, signed as webhooks are")
    .requiredOption('--forward-to <url>', 'such as http://localhost:3000/hook', receiverUrl)
    .option('--secret <secret>', 'signs what is forwarded; made up if you give none', webhookSecret)
    .option('--from <event>', 'the last event that you have, such as evt_17; evt_0 for all', position, 'now')
    .action((options: ListenOptions) => listen(options));

function receiverUrl(text: string): string {
  const verdict = checkWebhookUrl(text, { allowPrivate: true });
  if (verdict.outcome === 'ok') return verdict.url.href;
  throw new InvalidArgumentError(verdict.reason);
}

function webhookSecret(text: string): string {
  if (/^[\x21-\x7e]{8,}$/.test(text)) return text;
  throw new RefusedError('bad_secret', 'That is no webhook secret: they look like whsec_…');
}

function position(text: string): string {
  if (text === 'now' || text === 'evt_0' || parseEventId(text) !== undefined) return text;
  throw new InvalidArgumentError('It must be now, or the id of an event such as evt_17.');
}

const pollMs = 1_000;
/** What is not an event; the output is for those. */
const say = (line: string) => process.stderr.write(`${line}\n`);

async function listen(options: ListenOptions): Promise<void> {
  const stopping = new AbortController();
  for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopping.abort());
  const { signal } = stopping;
  const { fetchKeeping, bytesOf } = keepingBytes();
  // The reader asks again by itself, and says so; the library would try for a minute in silence.
  const kopeck = connect(options, { fetch: fetchKeeping, maxRetries: 0, timeoutMs: 15_000 });
  const from = await asked(options, () => begin(kopeck, options));
  const secret = options.secret ?? newSecret();
  if (!options.secret) say(`Signed with ${secret}, made up for this time: give it to your receiver.`);
  const show = options.json ? showAsJson() : showAsTable();
  const tally = { forwarded: 0, givenUp: 0, last: from };
  const forwarder = createForwarder({ url: options.forwardTo, secret, signal, onTried: show.tried });
  try {
    for await (const event of kopeck.events.read({
      from,
      pollMs,
      signal,
      onError: error => say(`The service cannot be asked (${error.code}); asking again.`),
    })) {
      const end = await forwarder.forward(event, bytesOf(event.id));
      if (end === undefined) break;
      tally.last = event.id;
      tally[end.delivered ? 'forwarded' : 'givenUp'] += 1;
      show.ended(event, end);
    }
  } finally {
    await forwarder.close();
  }
  const givenUp = tally.givenUp > 0 ? ` Given up: ${tally.givenUp}.` : '';
  say(`\nEvents forwarded: ${tally.forwarded}.${givenUp} To go on from here: --from ${tally.last}`);
}

/** Where to begin, once it is known that the key is good. */
async function begin(kopeck: Kopeck, { from, forwardTo, url }: ListenOptions): Promise<string> {
  const { partner_id, mode } = await kopeck.ping();
  const start = from === 'now' ? await findEndOfFeed(kopeck) : from;
  say(`Events of ${partner_id} (${mode}) after ${start} from ${url} go to ${forwardTo}. Ctrl-C ends it.`);
  return start;
}

interface Show {
  tried(event: PaymentEvent, tried: Tried): void;
  ended(event: PaymentEvent, end: Forwarded): void;
}

const columns = [
  ['time', 8],
  ['event', 10],
  ['type', 17],
  ['payment', 30],
  ['answer', 12],
  ['ms', 5],
] as const;

/** Grows by a line with every attempt, so that nobody has to wait to see what happens. */
function showAsTable(): Show {
  const line = (cells: readonly string[]) =>
    process.stdout.write(
      `${cells
        .map((cell, index) => cell.padEnd(columns[index]![1]))
        .join('  ')
        .trimEnd()}\n`,
    );
  line(columns.map(([name]) => name));
  line(columns.map(([, width]) => '─'.repeat(width)));
  return {
    tried: (event, { at, answer, durationMs, againInSec, isLast }) => {
      const time = at.toTimeString().slice(0, 8);
      line([time, event.id, event.event, event.data.id, answer, `${durationMs}`]);
      if (againInSec !== undefined) say(`The receiver did not take it; again in ${againInSec} s.`);
      else if (isLast) say('The receiver does not take it: given up, and on with the next.');
    },
    ended: () => {},
  };
}

/** A line for each event, when it is over. */
function showAsJson(): Show {
  return {
    tried: (event, { answer, againInSec }) => {
      if (againInSec !== undefined)
        say(JSON.stringify({ event_id: event.id, answer, again_in_sec: againInSec }));
    },
    ended: (event, { delivered, attempts, status, error, durationMs, at }) => {
      const line = {
        at: at.toISOString(),
        event_id: event.id,
        event: event.event,
        payment_id: event.data.id,
        delivered,
        attempts,
        status,
        error,
        duration_ms: durationMs,
      };
      process.stdout.write(`${JSON.stringify(line)}\n`);
    },
  };
}
