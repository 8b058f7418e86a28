import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, test } from 'vitest';
import { approveLive } from '../../src/partners/index.ts';
import { newLink } from '../helpers/api.ts';
import { auditContextOf, createDatabase } from '../helpers/database.ts';
import { ownerOf, startTestBot } from './setup.ts';

/** A bank that holds every request until the test releases it. */
const held: (() => void)[] = [];
const bank = createServer((_request, response) => {
  held.push(() => response.writeHead(404).end('{"code":"QR_CODE_NOT_FOUND"}'));
}).listen(0, '127.0.0.1');
afterAll(() => void bank.close());

const { pool } = await createDatabase();
const gatewayUrl = `http://127.0.0.1:${(bank.address() as AddressInfo).port}`;
const world = await startTestBot({ pool, gatewayUrl });

test('a user can go on while the bank resolves their link', async () => {
  const { owner, partnerId } = await ownerOf(world, pool, 'Slow bank');
  await approveLive(auditContextOf(pool), partnerId);
  await owner.send(newLink(30_510));
  await owner.writes('/menu', /Your role/);
  await expect.poll(() => held.length).toBe(1);
  for (const answer of held) answer();
  await owner.reads(/not an SBP QR code link/);
});
