import { Registry } from 'prom-client';
import { createAdmission, createServer } from '../../src/api/index.ts';
import { systemClock } from '../../src/base/clock.ts';

// biome-ignore lint/suspicious/noExplicitAny: a document that is walked through
export type Json = any;

/** The document as the service serves it. No handler is called, so there is no database. */
export async function serveDocument(): Promise<Json> {
  const deps = { clock: systemClock, trustProxy: [], metrics: new Registry(), admission: createAdmission(1) };
  const server = await createServer(deps as never);
  await server.ready();
  const document = JSON.stringify(server.swagger());
  await server.close();
  return JSON.parse(document);
}

/** The OpenAPI document, and the examples in it. */
export async function readDocument() {
  const document = await serveDocument();

  /** Every object in the document for which this holds. */
  const all = (isWanted: (value: Json) => boolean, value: Json = document): Json[] => {
    if (value === null || typeof value !== 'object') return [];
    const inside = Object.values(value).flatMap(one => all(isWanted, one));
    return isWanted(value) ? [value, ...inside] : inside;
  };

  const answer = (path: string, method = 'get', type = 'application/json'): Json =>
    Object.values<Json>(document.paths[path][method].responses['200'].content[type].examples)[0].value;

  const payments = all(value => value.object === 'payment' && 'settled_at' in value);
  const withStatus = (status: string): Json => payments.find(payment => payment.status === status);
  return { document, all, answer, payments, withStatus };
}
