import { expect, test } from 'vitest';
import { approveLive } from '../../src/partners/index.ts';
import { newLink } from '../helpers/api.ts';
import { startLocalServer } from '../helpers/local-server.ts';
import { createBotWorld } from './setup.ts';

/** A bank that holds every request until the test releases it. */
const held: (() => void)[] = [];
const bank = await startLocalServer();
bank.answer((_request, response) => {
  held.push(() => response.writeHead(404).end('{"code":"QR_CODE_NOT_FOUND"}'));
});
const { pool, audit, telegram, ownerOf, start } = await createBotWorld({ gatewayUrl: bank.url });

test('a user can go on while the bank resolves their link', async () => {
  const { owner, partnerId } = await ownerOf('Slow bank');
  await approveLive(audit, partnerId);
  await owner.send(newLink(30_510));
  await owner.writes('/menu', /Your role/);
  await expect.poll(() => held.length).toBe(1);
  for (const answer of held) answer();
  await owner.reads(/not an SBP QR code link/);
});

const leaders = async () => {
  const { rows } = await pool.query<{ pid: number }>(
    `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND classid = ${0x63686174}::oid AND granted
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
  );
  return rows.map(({ pid }) => pid);
};

test('leader election: one of several processes polls; when its connection is cut, another takes over', async () => {
  const { owner } = await ownerOf('Relay');
  start();
  await owner.writes('/menu', /Your role/);
  const [first, ...others] = await leaders();
  expect(others).toEqual([]);
  await pool.query('SELECT pg_terminate_backend($1)', [first]);
  await expect.poll(async () => (await leaders()).filter(pid => pid !== first).length).toBe(1);
  await owner.writes('/menu', /Your role/);
  await owner.goes(['💰 Balance', /Amount per payment/]);
  await expect.poll(() => telegram.unansweredPresses()).toEqual([]);
});
