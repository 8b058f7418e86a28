import { receive, type WebhookOptions } from './receive.ts';

export type { WebhookOptions } from './receive.ts';

interface Context {
  req: { arrayBuffer(): Promise<ArrayBuffer>; header(name: string): string | undefined };
}

const headersOf = ({ req }: Context) => ({ get: (name: string) => req.header(name) ?? null });

/** `app.post('/kopeck', kopeckWebhook({ secret, onEvent }))`. */
export function kopeckWebhook(options: WebhookOptions) {
  return async (context: Context): Promise<Response> => {
    const raw = new Uint8Array(await context.req.arrayBuffer());
    const { status, body } = await receive(raw, headersOf(context), options);
    return Response.json(body, { status });
  };
}
