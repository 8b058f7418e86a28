import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { errors } from '../../src/base/errors.ts';
import { startApi } from '../helpers/api.ts';
import { createDatabase } from '../helpers/database.ts';
import { newFolder } from '../helpers/folders.ts';

const { pool } = await createDatabase();
const { address } = await startApi({ pool });
// biome-ignore lint/suspicious/noExplicitAny: a document looked into at a few places
const document: any = await (await fetch(`${address}/openapi.json`)).json();

test('is OpenAPI 3.1 and passes the linter without a warning', () => {
  const folder = newFolder();
  writeFileSync(join(folder, 'openapi.json'), JSON.stringify(document));
  writeFileSync(join(folder, 'redocly.yaml'), 'extends: [recommended]\ntelemetry: off\n');
  const { status, stdout, stderr } = spawnSync('redocly', ['lint', 'openapi.json', '--format=stylish'], {
    cwd: folder,
    env: { ...process.env, REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', REDOCLY_TELEMETRY: 'off' },
    encoding: 'utf8',
  });
  expect({ status, warnings: /warning/.test(stdout + stderr) }, stdout + stderr).toEqual({
    status: 0,
    warnings: false,
  });
  expect(document.openapi).toBe('3.1.0');
});

test('has an example for every error and both webhook events', () => {
  const text = JSON.stringify(document);
  for (const code of Object.keys(errors)) expect(text).toContain(`"code":"${code}"`);
  expect(Object.keys(document.webhooks)).toEqual(['payment.succeeded', 'payment.failed']);
});
