import type { Fetch, Kopeck } from '../../sdk/src/index.ts';
import { parseJson, stringifyJson } from '../base/json.ts';
import { formatEventId, parseEventId } from '../webhooks/index.ts';

/**
 * A `fetch` that keeps the text of the events on the last page. The SDK uses `JSON.parse`, which rounds long numbers and
 * reorders keys; a receiver must get the bytes that a webhook would carry.
 */
export function createRecordingFetch(): { recordingFetch: Fetch; bytesOf(eventId: string): string } {
  let page = new Map<string, string>();
  return {
    recordingFetch: async (url, init) => {
      const response = await fetch(url, init);
      const text = await response.text();
      if (response.status === 200 && new URL(url).pathname.endsWith('/v1/events')) page = eventsIn(text);
      return { status: response.status, headers: response.headers, text: async () => text };
    },
    bytesOf: eventId => {
      const bytes = page.get(eventId);
      if (bytes === undefined) throw new Error(`${eventId} is not on the last page`);
      return bytes;
    },
  };
}

function eventsIn(text: string): Map<string, string> {
  const answer = parseJson(text);
  const events = answer instanceof Map ? answer.get('data') : undefined;
  if (!Array.isArray(events)) return new Map();
  return new Map(
    events.flatMap(event => {
      const id = event instanceof Map ? event.get('id') : undefined;
      return typeof id === 'string' ? [[id, stringifyJson(event)] as const] : [];
    }),
  );
}

const pageSize = 100;

/** The feed can only be read forwards, but its ids increase: the last event is found by exponential and binary search. */
export async function findEndOfFeed(kopeck: Pick<Kopeck, 'events'>): Promise<string> {
  let known = 0n;
  let tooFar: bigint | undefined;
  for (let stepBy = BigInt(pageSize); ; stepBy *= 4n) {
    const { data, has_more } = await kopeck.events.list({ after: formatEventId(known), limit: pageSize });
    known = parseEventId(data.at(-1)?.id ?? '') ?? known;
    if (!has_more) return formatEventId(known);
    // Between the last event seen and a position with no events after it.
    const ahead: bigint = tooFar === undefined || tooFar <= known ? known + stepBy : (known + tooFar) / 2n;
    const beyond = await kopeck.events.list({ after: formatEventId(ahead), limit: pageSize });
    if (beyond.data.length === 0) tooFar = ahead;
    else if (beyond.has_more) known = parseEventId(beyond.data.at(-1)!.id)!;
    else return beyond.data.at(-1)!.id;
  }
}
