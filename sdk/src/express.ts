import { maxBytes, receive, tooLarge, type WebhookOptions } from './receive.ts';

export type { WebhookOptions } from './receive.ts';

interface Request extends AsyncIterable<unknown> {
  headers: Record<string, string | string[] | undefined>;
  readableEnded?: boolean;
  body?: unknown;
  rawBody?: unknown;
}

interface Response {
  status(code: number): { json(body: unknown): unknown };
}

/** `app.post('/kopeck', kopeckWebhook({ secret, onEvent }))`, before or without `express.json()`. */
export function kopeckWebhook(options: WebhookOptions) {
  return async (request: Request, response: Response, next: (error?: unknown) => void): Promise<void> => {
    try {
      const raw = await rawBodyOf(request);
      const reply = raw ? await receive(raw, request.headers, options) : tooLarge;
      response.status(reply.status).json(reply.body);
    } catch (error) {
      next(error);
    }
  };
}

/** The raw body that an earlier middleware has stored, or the stream; undefined if it is too long. */
async function rawBodyOf(request: Request): Promise<string | Uint8Array | undefined> {
  for (const kept of [request.rawBody, request.body])
    if (typeof kept === 'string' || kept instanceof Uint8Array) return kept;
  if (request.readableEnded)
    throw new Error(
      'The body is already parsed, so its signature cannot be verified: put kopeckWebhook before express.json(), or use express.raw({ type: "*/*" }) for this path.',
    );
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Uint8Array<ArrayBuffer>>) {
    length += chunk.length;
    // Read to the end anyway: a client that is still sending would not see the answer.
    if (length <= maxBytes) chunks.push(chunk);
  }
  if (length > maxBytes) return undefined;
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}
