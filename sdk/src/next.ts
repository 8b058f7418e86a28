import { receive, type WebhookOptions } from './receive.ts';

export type { WebhookOptions } from './receive.ts';

/** In `app/kopeck/route.ts`: `export const POST = kopeckWebhook({ secret, onEvent })`. Works wherever handlers take a `Request`. */
export function kopeckWebhook(options: WebhookOptions) {
  return async (request: Request): Promise<Response> => {
    const raw = new Uint8Array(await request.arrayBuffer());
    const { status, body } = await receive(raw, request.headers, options);
    return Response.json(body, { status });
  };
}
