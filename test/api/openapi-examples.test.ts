import { describe, expect, test } from 'vitest';
import { events } from '../../src/api/docs/examples.ts';
import { allErrors, retryAdvice } from '../../src/base/errors.ts';
import { type Id, timeOfId } from '../../src/base/ids.ts';
import {
  formatMicroUsdt,
  kopecksToMicroUsdt,
  parseKopecks,
  parseMicroUsdt,
  parseRate,
} from '../../src/base/money.ts';
import { failureMessages } from '../../src/payments/payment.ts';
import { eventHeaders } from '../../src/webhooks/delivery/envelope.ts';
import { sign, standardHeaders, standardSecret } from '../../src/webhooks/delivery/signatures.ts';
import { validatorOf } from '../helpers/api.ts';
import { expectLintedOpenApi } from '../helpers/lint-openapi.ts';
import { type Json, readDocument } from './openapi-world.ts';

const { document, all, answer, withStatus, payments } = await readDocument();

test('the document is OpenAPI 3.1 and passes the linter without a warning', () =>
  expectLintedOpenApi(document));

const operations: { name: string; operation: Json }[] = [
  ...Object.entries<Json>(document.paths),
  ...Object.entries<Json>(document.webhooks),
].flatMap(([path, methods]) =>
  Object.entries<Json>(methods).map(([method, operation]) => ({ name: `${method} ${path}`, operation })),
);

/** Every body that is documented, with its schema and its examples. */
const bodies = operations.flatMap(({ name, operation }) => [
  ...contentOf(`${name}, request`, operation.requestBody),
  ...Object.entries<Json>(operation.responses).flatMap(([status, response]) =>
    contentOf(`${name}, ${status}`, response),
  ),
]);

function contentOf(place: string, body: Json): { place: string; schema: Json; values: Json[] }[] {
  return Object.entries<Json>(body?.content ?? {}).map(([type, { schema, examples = {} }]) => ({
    place: `${place}, ${type}`,
    schema,
    values: Object.values<Json>(examples).map(({ value }) => value),
  }));
}

describe('every example', () => {
  test('fits its schema, and nothing but a request without fields has none', () => {
    const isEmptyRequest = ({ requestBody, parameters = [] }: Json) =>
      !requestBody && !parameters.some((parameter: Json) => parameter.in === 'query');
    const without = operations
      .filter(({ operation }) => isEmptyRequest(operation))
      .map(({ name }) => `${name}, 422, application/json`);
    expect(bodies.filter(({ values }) => values.length === 0).map(({ place }) => place)).toEqual(without);
    for (const { place, schema, values } of bodies) {
      const validate = validatorOf(schema, document.components);
      for (const value of values)
        expect(validate(value), `${place}: ${JSON.stringify(validate.errors)}`).toBe(true);
    }
  });

  test('of a parameter or a field fits its schema too', () => {
    const parameters = all(value => 'in' in value && 'schema' in value && 'example' in value);
    expect(parameters.map(({ name }) => name)).toContain('Idempotency-Key');
    const fields = all(value => Array.isArray(value.examples));
    expect(fields.length).toBeGreaterThan(50);
    for (const { schema, values } of [
      ...parameters.map(({ schema, example }) => ({ schema, values: [example] })),
      ...fields.map(schema => ({ schema, values: schema.examples })),
    ]) {
      const validate = validatorOf(schema, document.components);
      for (const value of values) expect(validate(value), JSON.stringify({ schema, value })).toBe(true);
    }
  });

  test('of a field is the one that an example of the whole has', () => {
    const wholes = [
      ...bodies,
      ...Object.values<Json>(document.components.schemas).map(schema => ({
        schema,
        values: schema.examples,
      })),
    ];
    for (const { schema, values } of wholes)
      for (const [name, field] of Object.entries<Json>(schema.properties ?? {})) {
        const [example] = field.examples ?? field.anyOf?.[0].examples ?? [];
        if (example === undefined || name === 'request_id') continue;
        expect(values.map((value: Json) => value[name])).toContainEqual(example);
      }
  });

  test('of an error is that of its own code, status, message and advice', () => {
    const seen = new Set<string>();
    for (const { name, operation } of operations)
      for (const [status, { content }] of Object.entries<Json>(operation.responses)) {
        if (!/^[45]/.test(status)) continue;
        const examples = Object.entries<Json>(content['application/json'].examples ?? {});
        for (const [code, { value }] of examples.filter(([, { value }]) => 'error' in value)) {
          const known = allErrors[code as keyof typeof allErrors];
          const { request_id, required_usdt, balance_usdt, ...error } = value.error;
          expect({ status, error }, `${name}: ${code}`).toEqual({
            status: `${known.status}`,
            error: { code, message: known.message, ...retryAdvice(code as keyof typeof allErrors) },
          });
          const isShort = required_usdt !== undefined;
          expect(isShort).toBe(code === 'insufficient_balance');
          if (isShort) {
            expect(required_usdt).toBe(withStatus('succeeded').amount_usdt);
            expect(parseMicroUsdt(balance_usdt)!).toBeLessThan(parseMicroUsdt(required_usdt)!);
          }
          seen.add(code);
        }
      }
    expect([...seen].sort()).toEqual(Object.keys(allErrors).sort());
  });

  test('of a malformed request names a field that the request has', () => {
    for (const { name, operation } of operations) {
      const example = operation.responses['422']?.content['application/json'].examples?.malformed;
      if (!example) continue;
      const [[part, field]] = example.value.detail.map((detail: Json) => detail.loc);
      const fields =
        part === 'body'
          ? Object.keys(operation.requestBody.content['application/json'].schema.properties)
          : operation.parameters.filter((one: Json) => one.in === part).map((one: Json) => one.name);
      expect(fields, name).toContain(field);
    }
  });
});

test('the idempotency key is required', () => {
  const { parameters } = document.paths['/v1/payments'].post;
  expect(parameters).toEqual([
    expect.objectContaining({ name: 'Idempotency-Key', in: 'header', required: true }),
  ]);
});

describe('the payments', () => {
  const asTheyEnded = payments.filter(payment => !('refunded_rub' in payment));
  const byId = new Map<string, Json>(asTheyEnded.map(payment => [payment.id, payment]));

  test('one of them was refunded later, if it is a live one', () => {
    const later = payments.filter(payment => 'refunded_rub' in payment);
    expect(later).toEqual([
      { ...byId.get(later[0].id), mode: 'live', refunded_rub: '100.00', refunded_usdt: '1.081081' },
    ]);
  });

  test('are three, each the same wherever it is shown', () => {
    const statuses = Array.from(byId.values(), ({ status }) => status);
    expect(statuses.sort()).toEqual(['failed', 'processing', 'succeeded']);
    for (const shown of asTheyEnded) expect(shown).toEqual(byId.get(shown.id));
    const created = document.paths['/v1/payments'].post.responses['200'].content['application/json'].examples;
    for (const [name, { value }] of Object.entries<Json>(created)) expect(value.status).toBe(name);
    expect(document.components.schemas.Payment.examples).toEqual([withStatus('succeeded')]);
    const newestFirst = [...byId.values()].sort((a, b) => (a.created_at < b.created_at ? 1 : -1));
    expect(answer('/v1/payments').data).toEqual(newestFirst);
  });

  test('are what was requested, at the rate, rounded up', () => {
    const { examples } = document.paths['/v1/payments'].post.requestBody.content['application/json'];
    for (const [name, { value }] of Object.entries<Json>(examples)) {
      const payment = withStatus(name);
      const { amount_rub, external_id, metadata = {} } = value;
      expect(payment).toMatchObject({ amount_rub, external_id });
      expect(payment.metadata).toEqual(metadata);
      expect(BigInt(new URL(value.qr_url).searchParams.get('sum')!)).toBe(parseKopecks(amount_rub));
    }
    const priced = [...byId.values(), answer('/v1/quote', 'post')];
    for (const { amount_rub, rate, amount_usdt } of priced)
      expect(formatMicroUsdt(kopecksToMicroUsdt(parseKopecks(amount_rub)!, parseRate(rate)!))).toBe(
        amount_usdt,
      );
    expect(answer('/v1/rate').rate).toBe(answer('/v1/quote', 'post').rate);
    const paid = withStatus('succeeded');
    const { recipient, amount_rub, qrc_id } = answer('/v1/qr/resolve', 'post');
    expect({ recipient, amount_rub }).toEqual({ recipient: paid.recipient, amount_rub: paid.amount_rub });
    expect(examples.succeeded.value.qr_url).toContain(`/${qrc_id}?`);
  });

  test('have the fields of their status and the time of their id', () => {
    for (const payment of byId.values()) {
      expect(new Date(payment.created_at).getTime()).toBe(timeOfId(payment.id as Id<'pay'>));
      if (payment.settled_at !== null) expect(payment.settled_at > payment.created_at).toBe(true);
    }
    const open = { status_detail: 'awaiting_gateway', error: null, settled_at: null };
    expect(withStatus('succeeded')).toMatchObject({ status_detail: null, error: null });
    expect(withStatus('processing')).toMatchObject(open);
    const { gateway_declined: message } = failureMessages;
    const error = { code: 'gateway_declined', message };
    expect(withStatus('failed')).toMatchObject({ status_detail: 'gateway_declined', error });
    for (const ended of ['succeeded', 'failed']) expect(withStatus(ended).settled_at).not.toBe(null);
  });
});

test('webhooks are the events of the feed, with their own headers and signature', () => {
  const feed = answer('/v1/events');
  expect(feed.next_cursor).toBe(feed.data.at(-1).id);
  for (const event of [...feed.data, events.refunded]) {
    const { parameters, requestBody, description } = document.webhooks[event.event].post;
    const { examples } = requestBody.content['application/json'];
    expect(Object.values<Json>(examples).map(({ value }) => value)).toEqual([event]);
    const { data } = event;
    const isRefund = event.event === 'payment.refunded';
    const at = new Date(event.created_at);
    if (!isRefund)
      expect(event).toMatchObject({ event: `payment.${data.status}`, created_at: data.settled_at });
    const [, secret = ''] = /the secret `(\w+)`/.exec(description)!;
    const atSec = Math.floor(at.getTime() / 1_000);
    const body = JSON.stringify(event);
    const signature = sign([secret], atSec, body);
    const { 'content-type': _, ...headers } = eventHeaders(
      {
        eventId: BigInt(event.id.slice('evt_'.length)),
        payment: { paymentId: data.id, status: data.status, settledAt: new Date(data.settled_at) },
        refund: isRefund ? { at, total: { kopecks: 10_000n, microUsdt: 1_081_081n } } : undefined,
      },
      signature,
    );
    expect(
      Object.fromEntries(parameters.map(({ name, example }: Json) => [name.toLowerCase(), example])),
    ).toEqual({ ...headers, ...standardHeaders([secret], { id: event.id, atSec, body }) });
    expect(standardSecret(secret)).toBe(secret);
  }
});
