import swagger from '@fastify/swagger';
import type { FastifyInstance, FastifySchema } from 'fastify';
import { scenarios } from '../../payments/index.ts';
import { createStaticFile, type StaticFile, sendStaticFile, staticMethods } from '../http/static-file.ts';
import { events, only, webhookHeaders, webhookSecret } from './examples.ts';
import { type SiteOptions, siteRoutes } from './routes.ts';

const description = `
Pay QR codes of the Russian Faster Payment System (SBP) in rubles from a USDT balance.

The [guides](/docs/guides/) cover everything from the first payment to going live.

Send your key as \`Authorization: Bearer svc_test_…\`. A test key uses the same endpoints, but nothing goes to a bank: the
kopecks of the amount choose the outcome (.01 is declined, .02 is unknown and succeeds after 30 seconds, .03 returns
\`qr_changed\`, anything else succeeds).

If you do not know the outcome of a request, repeat it with the same \`Idempotency-Key\`: it is never paid twice. A rejected
request does not use up the key. 429 and 503 are temporary: retry after \`Retry-After\`, or after 2 seconds, then twice as
long each time. Changes within \`/v1\` only add; ignore fields that you do not know.
`;

const additions = `
Optional: integrations work without them. Besides the endpoints below:

- Every error has advice for programs. \`retryable\`: wait, then send the same request again. \`same_key\`:
  whenever you send this payment again, even after fixing it, keep its \`Idempotency-Key\`.
- \`GET /v1/payments\` filters by \`external_id\`, \`created_after\` (inclusive) and \`created_before\` (exclusive). Write the
  plus sign of an offset as \`%2B\`, or use \`Z\`.
- A test payment can request a failure scenario with \`"metadata": {"kopeck_scenario": "…"}\`. Other values, and all values
  in a live payment, are ignored.

| scenario | what happens |
|---|---|
${Object.entries(scenarios)
  .map(([name, description]) => `| \`${name}\` | ${description} |`)
  .join('\n')}
`;

/** The headers of Standard Webhooks. */
const standardHeaders: Record<string, string> = {
  'webhook-id': 'Optional: the id of the event, the same for each attempt',
  'webhook-timestamp': 'Optional: Unix seconds of the attempt',
  'webhook-signature':
    'Optional: `v1,<base64>` for each valid secret, separated by spaces; for endpoints that ask for it also `v1a,<base64>`, made with an Ed25519 key that only this partner and mode has (`/.well-known/webhook-keys/{partner_id}/{mode}`)',
};

const summaries = {
  succeeded: 'A payment went through; the debit is final',
  failed: 'A payment did not go through; the USDT were returned to the balance',
  refunded: 'Optional, only if the webhook asks for it: the recipient returned money of a payment',
};

const event = (outcome: keyof typeof events, summary: string) => ({
  post: {
    operationId: `onPayment${outcome.charAt(0).toUpperCase()}${outcome.slice(1)}`,
    tags: ['Webhooks'],
    summary,
    // The endpoint is the partner's; our requests carry a signature instead of a key.
    security: [],
    description: `Signed with \`X-Service-Signature: t=<unix seconds>,v1=<hex>\`: HMAC-SHA256 of \`<t>.<raw body>\` with your webhook secret. Optional: the headers of [Standard Webhooks](https://www.standardwebhooks.com) carry HMAC-SHA256 of \`<webhook-id>.<webhook-timestamp>.<raw body>\`, with what follows \`whsec_\` in base64 as the key; verify either. The example is signed with the secret \`${webhookSecret}\`; its body has no spaces or line breaks between the values.`,
    parameters: Object.entries(webhookHeaders[outcome]).map(([name, example]) => ({
      name,
      in: 'header',
      required: true,
      ...(standardHeaders[name] ? { description: standardHeaders[name] } : {}),
      schema: { type: 'string' },
      example,
    })),
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: {
            type: 'object',
            required: ['id', 'event', 'created_at', 'data'],
            properties: {
              id: { type: 'string', pattern: '^evt_\\d+$', examples: [events[outcome].id] },
              event: { type: 'string', enum: [events[outcome].event] },
              created_at: { type: 'string', format: 'date-time', examples: [events[outcome].created_at] },
              data: { $ref: '#/components/schemas/Payment' },
            },
          },
          examples: only(summary, events[outcome]),
        },
      },
    },
    responses: { '2XX': { description: 'Received; after any other response the event is sent again' } },
  },
});

export async function documentApi(server: FastifyInstance, options: SiteOptions): Promise<void> {
  await server.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Kopeck partner API',
        version: '2026-11-14',
        description,
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: '/' }],
      tags: [
        { name: 'Account', description: 'Key and balance' },
        { name: 'Rates', description: 'Rate and quotes' },
        { name: 'Payments', description: 'Pay, read, list' },
        { name: 'Webhooks', description: 'What the service sends to you' },
        { name: 'Optional', description: additions },
      ],
      components: { securitySchemes: { apiKey: { type: 'http', scheme: 'bearer' } } },
      webhooks: Object.fromEntries(
        Object.entries(summaries).map(([outcome, summary]) => [
          `payment.${outcome}`,
          event(outcome as keyof typeof summaries, summary),
        ]),
      ),
    } as never,
    // A route may have no schema, which the type does not say.
    transform: ({ schema = {}, url }) => ({ schema: withHeaders(schema), url }),
    refResolver: {
      buildLocalReference: (json, _base, _fragment, index) => String(json.$id ?? `def-${index}`),
    },
  });
  documentRoute(server);
  siteRoutes(server, options);
}

/** Headers that the document requires and the validator does not, because the route checks them itself. */
function withHeaders({
  documentedHeaders,
  ...rest
}: FastifySchema & { documentedHeaders?: unknown }): FastifySchema {
  return documentedHeaders === undefined ? rest : { ...rest, headers: documentedHeaders };
}

/** Routes are not added while the server runs, so the document is made once. */
function documentRoute(server: FastifyInstance): void {
  let file: StaticFile | undefined;
  server.route({
    method: staticMethods,
    url: '/openapi.json',
    schema: { hide: true },
    handler: (request, reply) => {
      file ??= createStaticFile('application/json; charset=utf-8', JSON.stringify(server.swagger()));
      return sendStaticFile(request, reply, file);
    },
  });
}
