import { describe, expect, test } from 'vitest';
import { readThresholds, submitThresholds } from '../../src/approvals/index.ts';
import { topUp } from '../../src/ledger/index.ts';
import { auditContextOf } from '../helpers/database.ts';
import { insertOperator } from '../helpers/review.ts';
import { createApprovalsWorld, idOf } from './approvals-world.ts';

const world = await createApprovalsWorld();
const { pool, sql, at, partnerId, requester, second, third, stateOf, auditOf, approve } = world;

const [admin, otherAdmin] = [await insertOperator(pool, 'admin'), await insertOperator(pool, 'admin')];
const creditsOf = async (reference: string) =>
  (await sql`SELECT micro_usdt FROM entries WHERE reference = ${reference}`).map(row => row.micro_usdt);

describe('crediting a balance', () => {
  const credit = (reference: string, microUsdt: bigint, operator = requester, mode?: 'test') =>
    world.credit(operator, { microUsdt, reference, ...(mode && { mode }) });
  const waiting = async (reference: string, microUsdt = 2_000_000_000n) =>
    idOf(await credit(reference, microUsdt));

  test('above it when a second operator approves; test money at once', async () => {
    expect(await credit('test money', 9_000_000_000n, requester, 'test')).toEqual({ outcome: 'done' });
    const requestId = await waiting('large');
    expect(await creditsOf('large')).toEqual([]);
    expect(await approve(requester, requestId)).toEqual({ outcome: 'own_request' });
    const support = await insertOperator(pool, 'support');
    expect(await approve(support, requestId)).toEqual({ outcome: 'forbidden' });
    expect(await approve(second, requestId)).toEqual({ outcome: 'done' });
    expect(await creditsOf('large')).toEqual([2_000_000_000n]);
    expect(await auditOf(partnerId)).toContainEqual(
      expect.objectContaining({
        actor: `operator:${second.name}`,
        action: 'balance.credit',
        after: expect.objectContaining({ asked_by: requester.name, reference: 'large' }),
      }),
    );
    expect(await credit('large', 2_000_000_000n)).toEqual({ outcome: 'already_credited' });
    expect(await credit('large', 3_000_000_000n)).toEqual({ outcome: 'reference_conflict' });
  });

  test('two approvals at once credit once', async () => {
    const requestId = await waiting('twice');
    const decisions = await Promise.all([approve(second, requestId), approve(third, requestId)]);
    expect(decisions.map(({ outcome }) => outcome).sort()).toEqual(['already_decided', 'done']);
    expect(await creditsOf('twice')).toEqual([2_000_000_000n]);
  });

  test('a reference that was used meanwhile: the request is void and changes nothing', async () => {
    const other = await waiting('used by another amount');
    const topUpWith = (reference: string, microUsdt: bigint) =>
      topUp(auditContextOf(pool), { partnerId, mode: 'live', microUsdt, reference });
    await topUpWith('used by another amount', 7n);
    expect(await approve(second, other)).toEqual({ outcome: 'void', why: 'reference_conflict' });
    expect(await creditsOf('used by another amount')).toEqual([7n]);

    const same = await waiting('used by the same amount');
    await topUpWith('used by the same amount', 2_000_000_000n);
    expect(await approve(second, same)).toEqual({ outcome: 'void', why: 'already_credited' });
    expect(await creditsOf('used by the same amount')).toEqual([2_000_000_000n]);
  });

  test('one request waits per reference, for a repeat and for another amount', async () => {
    await waiting('again');
    expect(await credit('again', 2_000_000_000n, second)).toMatchObject({ outcome: 'already_waiting' });
    expect(await credit('again', 3_000_000_000n)).toEqual({ outcome: 'reference_conflict' });
    expect(await waiting('another reference')).toMatch(/^apr_/);
  });

  test('a small credit with a waiting reference: credited, and the request is void', async () => {
    const requestId = await waiting('small first');
    expect(await credit('small first', 5n, third)).toEqual({ outcome: 'done' });
    expect(await stateOf(requestId)).toBe('void');
    expect(await creditsOf('small first')).toEqual([5n]);
  });

  test('an unknown partner', async () => {
    const unknown = { partnerId: 'prt_01h00000000000000000000000', reference: 'r' } as const;
    for (const microUsdt of [1n, 2_000_000_000n])
      expect(await world.credit(requester, { ...unknown, microUsdt })).toEqual({ outcome: 'no_partner' });
  });
});

describe('the thresholds', () => {
  const set = async (decisionKopecks: bigint, creditMicroUsdt: bigint, expectedVersion?: number) =>
    submitThresholds(at(admin), admin, {
      decisionKopecks,
      creditMicroUsdt,
      expectedVersion: expectedVersion ?? (await readThresholds(pool)).version,
    });

  test('are lowered at once, if the version is current', async () => {
    const { version } = await readThresholds(pool);
    expect(await set(900_000n, 900_000_000n, version)).toEqual({ outcome: 'done' });
    expect(await set(800_000n, 900_000_000n, version)).toEqual({ outcome: 'stale' });
    expect(await readThresholds(pool)).toEqual({
      version: version + 1,
      decisionKopecks: 900_000n,
      creditMicroUsdt: 900_000_000n,
    });
    expect(await auditOf('service')).toMatchObject([
      { action: 'thresholds.set', actor: `operator:${admin.name}`, after: { resolve_rub: '9000.00' } },
    ]);
  });

  test.each([
    ['one is raised', 1_000_000n, 900_000_000n],
    ['one is raised and the other lowered', 1n, 2_000_000_000n],
  ])('need a second operator when %s', async (_name, decisionKopecks, creditMicroUsdt) => {
    const before = await readThresholds(pool);
    const requestId = idOf(await set(decisionKopecks, creditMicroUsdt));
    expect(await readThresholds(pool)).toEqual(before);
    expect(await approve(admin, requestId)).toEqual({ outcome: 'own_request' });
    expect(await approve(second, requestId)).toEqual({ outcome: 'forbidden' });
    expect(await approve(otherAdmin, requestId)).toEqual({ outcome: 'done' });
    expect(await readThresholds(pool)).toEqual({
      version: before.version + 1,
      decisionKopecks,
      creditMicroUsdt,
    });
  });

  test('lowered while a raise waits: the raise is void', async () => {
    const requestId = idOf(await set(50_000_000n, 50_000_000_000n));
    expect(await set(1n, 1n)).toEqual({ outcome: 'done' });
    expect(await approve(otherAdmin, requestId)).toEqual({ outcome: 'already_decided', state: 'void' });
    expect(await readThresholds(pool)).toMatchObject({ decisionKopecks: 1n, creditMicroUsdt: 1n });
  });

  test('changed in another way while a raise waits: void when it is approved', async () => {
    const requestId = idOf(await set(50_000_000n, 50_000_000_000n));
    await pool.query('UPDATE service SET thresholds_version = thresholds_version + 1');
    expect(await approve(otherAdmin, requestId)).toEqual({ outcome: 'void', why: 'stale' });
    expect(await readThresholds(pool)).toMatchObject({ decisionKopecks: 1n, creditMicroUsdt: 1n });
  });
});
