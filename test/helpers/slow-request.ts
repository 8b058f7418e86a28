import { once } from 'node:events';
import { type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import { json } from 'node:stream/consumers';
import type { browserAt } from './console.ts';

/** A change of a page whose headers arrive, and the last byte of its body only when the returned function is called. */
export const sendSlowly = (
  browser: Pick<ReturnType<typeof browserAt>, 'cookie' | 'csrfToken'>,
  url: string,
  body: object,
) =>
  postSlowly(
    url,
    { cookie: browser.cookie!, origin: new URL(url).origin, 'x-csrf-token': browser.csrfToken! },
    body,
  );

/** The same for any request. */
export async function postSlowly(url: string, headers: OutgoingHttpHeaders, body: object) {
  const bytes = Buffer.from(JSON.stringify(body));
  const call = request(url, {
    method: 'POST',
    headers: {
      ...headers,
      'content-type': 'application/json',
      'content-length': bytes.length,
      expect: '100-continue',
    },
  });
  call.flushHeaders();
  await once(call, 'continue');
  call.write(bytes.subarray(0, -1));
  return async () => {
    call.end(bytes.subarray(-1));
    const [response] = (await once(call, 'response')) as [IncomingMessage];
    return { status: response.statusCode, json: (await json(response)) as { error?: { code: string } } };
  };
}
