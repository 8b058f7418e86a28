import { startApi } from '../helpers/api.ts';
import { createDatabase } from '../helpers/database.ts';

// biome-ignore lint/suspicious/noExplicitAny: a document that is walked through
export type Json = any;

/** The OpenAPI document, and the examples in it. */
export async function readDocument() {
  const { pool } = await createDatabase();
  const { address } = await startApi({ pool });
  const document: Json = await (await fetch(`${address}/openapi.json`)).json();

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
