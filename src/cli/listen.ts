import { type Command, InvalidArgumentError } from 'commander';
import { type Kopeck, KopeckError, type PaymentEvent } from '../../sdk/src/index.ts';
import { checkWebhookUrl, newSecret, parseEventId } from '../webhooks/index.ts';
import { createForwarder, createRecordingFetch, type ForwardAttempt } from './forward.ts';
import { refuse } from './output.ts';
import { callsService, connect, explainErrors, type Remote, webhookSecret } from './remote.ts';
import { command } from './terminal.ts';

interface ListenOptions extends Remote {
  json: boolean;
  forwardTo: string;
  secret?: string;
  from: string;
}

export const listenCommand = (): Command =>
  callsService(command('listen', "forward a partner's events to a local URL, signed like webhooks"))
    .requiredOption('--forward-to <url>', 'such as http://localhost:3000/hook', receiverUrl)
    .addOption(webhookSecret('webhook signing secret; prefer the environment variable (default: random)'))
    .option('--from <event>', 'start after this event, such as evt_17; evt_0 for all', position, 'now')
    .action((options: ListenOptions) => listen(options));

function receiverUrl(text: string): string {
  const verdict = checkWebhookUrl(text, { allowPrivate: true });
  if (verdict.outcome === 'ok') return verdict.url.href;
  throw new InvalidArgumentError(verdict.reason);
}

function position(text: string): string {
  if (text === 'now' || text === 'evt_0' || parseEventId(text) !== undefined) return text;
  throw new InvalidArgumentError('It must be now, or an event ID such as evt_17.');
}

const pollMs = 1_000;
/** Stderr is for messages; stdout has only events. */
const printMessage = (line: string) => process.stderr.write(`${line}\n`);

async function listen(options: ListenOptions): Promise<void> {
  const stopping = new AbortController();
  for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopping.abort());
  const { signal } = stopping;
  const { recordingFetch, bytesOf } = createRecordingFetch();
  // The event reader retries and reports it; retries of the SDK would be silent for a minute.
  const kopeck = connect(options, { fetch: recordingFetch, maxRetries: 0, timeoutMs: 15_000 });
  const from = await explainErrors(options, () => findStart(kopeck, options));
  const secret = options.secret ?? newSecret();
  if (!options.secret)
    printMessage(`Webhook signing secret for this run: ${secret} (set it in your endpoint)`);
  const show = options.json ? showAsJson : showAsTable();
  const tally = { forwarded: 0, failed: 0, last: from };
  const forwarder = createForwarder({ url: options.forwardTo, secret, signal, onAttempt: show });
  try {
    for await (const event of kopeck.events.read({
      from,
      pollMs,
      signal,
      onError: error => printMessage(`The service is not responding (${error.code}); retrying.`),
    })) {
      const result = await forwarder.forward(event, bytesOf(event.id));
      if (result === undefined) break;
      tally.last = event.id;
      tally[result.delivered ? 'forwarded' : 'failed'] += 1;
    }
  } finally {
    await forwarder.close();
  }
  const failed = tally.failed > 0 ? ` Failed permanently: ${tally.failed}.` : '';
  printMessage(`\nEvents forwarded: ${tally.forwarded}.${failed} To resume: --from ${tally.last}`);
}

/** Checks the key and the position, and returns the event to start after. */
async function findStart(kopeck: Kopeck, { from, forwardTo, url }: ListenOptions): Promise<string> {
  const { partner_id, mode } = await kopeck.ping();
  const { next_cursor } = await kopeck.events
    .list({ after: from === 'now' ? 'latest' : from, limit: 1 })
    .catch(error => {
      if (!(error instanceof KopeckError) || error.code !== 'not_found') throw error;
      refuse(error.code, `${from} is not an event of ${partner_id} (${mode}).`);
    });
  const start = from === 'now' ? next_cursor : from;
  printMessage(
    `Forwarding events of ${partner_id} (${mode}) after ${start} from ${url} to ${forwardTo}. Press Ctrl-C to stop.`,
  );
  return start;
}

type AttemptPrinter = (event: PaymentEvent, attempt: ForwardAttempt) => void;

const columns = [
  ['time', 8],
  ['event', 10],
  ['type', 17],
  ['payment', 30],
  ['response', 12],
  ['ms', 5],
] as const;

/** Prints one line per attempt, at once. */
function showAsTable(): AttemptPrinter {
  const line = (cells: readonly string[]) =>
    process.stdout.write(
      `${cells
        .map((cell, index) => cell.padEnd(columns[index]![1]))
        .join('  ')
        .trimEnd()}\n`,
    );
  line(columns.map(([name]) => name));
  line(columns.map(([, width]) => '─'.repeat(width)));
  return (event, { at, delivered, status, error, durationMs, retryInSec }) => {
    const time = at.toTimeString().slice(0, 8);
    line([time, event.id, event.event, event.data.id, `${status ?? error}`, `${durationMs}`]);
    if (retryInSec !== undefined)
      printMessage(`The endpoint did not accept the event; retrying in ${retryInSec} s.`);
    else if (!delivered)
      printMessage('The endpoint did not accept the event: failed permanently, continuing with the next.');
  };
}

/** Prints one line per event, when it is delivered or has failed permanently. */
const showAsJson: AttemptPrinter = (
  event,
  { at, attempts, delivered, status, error, durationMs, retryInSec },
) => {
  if (retryInSec !== undefined) {
    const retry = { event_id: event.id, answer: `${status ?? error}`, again_in_sec: retryInSec };
    return void printMessage(JSON.stringify(retry));
  }
  const line = {
    at: at.toISOString(),
    event_id: event.id,
    event: event.event,
    payment_id: event.data.id,
    ...{ delivered, attempts, status, error },
    duration_ms: durationMs,
  };
  process.stdout.write(`${JSON.stringify(line)}\n`);
};
