import { expect, test } from 'vitest';
import { errors } from '../../src/base/errors.ts';
import { startApi } from '../helpers/api.ts';
import { createDatabase } from '../helpers/database.ts';
import { expectLintedOpenApi } from '../helpers/lint-openapi.ts';

const { pool } = await createDatabase();
const { address } = await startApi({ pool });
// biome-ignore lint/suspicious/noExplicitAny: a document looked into at a few places
const document: any = await (await fetch(`${address}/openapi.json`)).json();

test('is OpenAPI 3.1 and passes the linter without a warning', () => expectLintedOpenApi(document));

test('has an example for every error and both webhook events', () => {
  const text = JSON.stringify(document);
  for (const code of Object.keys(errors)) expect(text).toContain(`"code":"${code}"`);
  expect(Object.keys(document.webhooks)).toEqual(['payment.succeeded', 'payment.failed', 'payment.refunded']);
});
