import { execFile, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { type ApiDocument, endpointsOf } from '../../src/api/docs/reference/document.ts';
import { samplesOf } from '../../src/api/docs/reference/samples.ts';
import { newFolder } from '../helpers/folders.ts';
import { listen } from '../helpers/local-server.ts';
import { startSite } from './site-world.ts';

const document = (await (await fetch(`${await startSite()}/openapi.json`)).json()) as ApiDocument;

interface Received {
  line: string;
  headers: IncomingHttpHeaders;
  body: unknown;
}
const received: Received[] = [];
/** Answers everything and keeps what it was asked. */
const recorder = await listen(async (request, response) => {
  const body = request.method === 'POST' ? await json(request) : undefined;
  received.push({ line: `${request.method} ${request.url}`, headers: request.headers, body });
  response.setHeader('content-type', 'application/json').end('{"id":"pay_1"}');
});
const env = { ...process.env, KOPECK_URL: recorder, KOPECK_KEY: 'svc_test_key' };

const programs: Record<string, [program: string, args: string[], file: string]> = {
  sh: ['sh', [], 'sample.sh'],
  ts: [process.execPath, [], 'sample.mts'],
  python: ['python3', [], 'sample.py'],
  php: ['php', [], 'sample.php'],
  go: ['go', ['run'], 'sample.go'],
};
const isThere = (program: string) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;

const endpointOf = (operationId: string) =>
  endpointsOf(document).find(({ operation }) => operation.operationId === operationId)!;

describe.each([
  ['createPayment', 'POST /v1/payments'],
  ['getStatement', 'GET /v1/statement?day=2026-11-15'],
])('the samples of %s', (operationId, line) => {
  const samples = samplesOf(endpointOf(operationId), document);

  test('are there in every language', () => {
    expect(samples.map(({ language }) => language)).toEqual(Object.keys(programs));
  });

  for (const { language, code } of samples) {
    const [program, args, file] = programs[language]!;
    test.skipIf(!isThere(program))(`send the request: ${language}`, async () => {
      const path = join(newFolder(), file);
      writeFileSync(path, code);
      const { stdout } = await promisify(execFile)(program, [...args, path], { env });
      expect(stdout).toContain('pay_1');
      const [request, ...more] = received.splice(0);
      expect(more).toEqual([]);
      expect([request!.line, request!.headers.authorization]).toEqual([line, 'Bearer svc_test_key']);
      if (operationId !== 'createPayment') return;
      expect(request!.headers['content-type']).toBe('application/json');
      expect(request!.headers['idempotency-key']).toMatch(/^[\x21-\x7e]+$/);
      const { qr_url, external_id, metadata } = request!.body as Record<string, unknown>;
      expect([qr_url, external_id]).toEqual([
        expect.stringMatching(/^https:\/\/qr\.nspk\.ru\//),
        expect.any(String),
      ]);
      expect(Array.isArray(metadata)).toBe(false);
    });
  }
});
