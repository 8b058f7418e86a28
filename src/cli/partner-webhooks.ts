import { readFileSync } from 'node:fs';
import { InvalidArgumentError } from 'commander';
import { type PaymentEvent, SignatureError, verifyWebhook } from '../../sdk/src/index.ts';
import { refuse, table } from './output.ts';
import { countUpTo } from './partner-payments.ts';
import { callsService, connect, explainErrors, type Remote, webhookSecret } from './remote.ts';
import { group, type MakeCommand, type Terminal } from './terminal.ts';

/** What a partner needs to find out why its endpoint misses or refuses an event. */
export const partnerWebhookCommands = (command: MakeCommand<Terminal>) =>
  group('webhooks', 'list events, and check the signature of a received one', [
    callsService(command('events', 'list the events of the feed, oldest first', listEvents))
      .option('--after <event>', 'start after this event, such as evt_17', eventId, 'evt_0')
      .option('--limit <count>', 'number of events', countUpTo(1_000), 20),
    command('verify <body>', 'check a request that was received; <body> is a file with its raw body', verify)
      .requiredOption('--signature <header>', 'its header X-Service-Signature')
      .addOption(
        webhookSecret('webhook signing secret; prefer the environment variable').makeOptionMandatory(),
      )
      .option('--any-age', 'also if it is older than 5 minutes'),
  ]);

function eventId(text: string): string {
  if (/^evt_\d{1,19}$/.test(text)) return text;
  throw new InvalidArgumentError('It must be an event ID such as evt_17, or evt_0 for all.');
}

async function listEvents(
  _terminal: Terminal,
  { after, limit, ...remote }: Remote & { after: string; limit: number },
) {
  const events: PaymentEvent[] = [];
  await explainErrors(remote, async () => {
    for await (const event of connect(remote).events.read({ from: after, follow: false })) {
      events.push(event);
      if (events.length === limit) return;
    }
  });
  const text = table(events, ({ id, event, created_at, data }) => ({
    event: id,
    'created (UTC)': new Date(created_at),
    type: event,
    payment: data.id,
    external_id: data.external_id ?? '',
  }));
  return { json: { events }, text };
}

async function verify(
  _terminal: Terminal,
  file: string,
  { signature, secret, anyAge = false }: { signature: string; secret: string; anyAge?: boolean },
) {
  const toleranceSec = anyAge ? Number.POSITIVE_INFINITY : undefined;
  try {
    const event = await verifyWebhook(readBody(file), signature, secret, { toleranceSec });
    const { id } = event;
    return { json: { verified: true, event }, text: `The signature is right: ${id}, ${event.event}.` };
  } catch (error) {
    if (!(error instanceof SignatureError)) throw error;
    return refuse(error.code, error.message);
  }
}

function readBody(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    return refuse('no_body', `${file} cannot be read: ${(error as Error).message}.`);
  }
}
