import type { Fetch } from '../../sdk/src/index.ts';
import { parseJson, stringifyJson } from '../base/json.ts';
import { callService } from './remote.ts';

/**
 * A `fetch` that keeps the text of the events on the last page. The SDK uses `JSON.parse`, which rounds long numbers and
 * reorders keys; a receiver must get the bytes that a webhook would carry.
 */
export function createRecordingFetch(): { recordingFetch: Fetch; bytesOf(eventId: string): string } {
  let page = new Map<string, string>();
  return {
    recordingFetch: async (url, init) => {
      const response = await callService(url, init);
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
