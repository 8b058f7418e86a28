import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { findChangedSchema } from '../../src/db/schema/changed-schema.ts';
import { newLink } from '../helpers/api.ts';
import { kopeck, startService } from '../helpers/cli.ts';
import { createDatabase } from '../helpers/database.ts';
import { hasCommit, startVersion, version01 } from './previous-release.ts';
import { readWholeSchema } from './whole-schema.ts';

test.skipIf(!hasCommit(version01))(
  'a database of version 0.1.0 is brought over with everything in it',
  async () => {
    const world = await startVersion(version01, {}, ['--max-day', '5000']);
    const { pool, simulator, receiver, env, runOld, old, partnerId, keys } = world;
    const ofFurther = ['--url', `${receiver.url}/further`, '--events', 'payment.succeeded,payment.refunded'];
    await runOld('webhook', 'add', partnerId, '--mode', 'live', ...ofFurther);

    const call = async (
      address: string,
      mode: 'live' | 'test',
      path: string,
      body?: object,
      key: string = randomUUID(),
    ) => {
      const response = await fetch(`${address}${path}`, {
        ...(body ? { method: 'POST', body: JSON.stringify(body) } : {}),
        headers: {
          authorization: `Bearer ${keys[mode]}`,
          'content-type': 'application/json',
          'idempotency-key': key,
        },
      });
      // biome-ignore lint/suspicious/noExplicitAny: a test reads any field, and fails if it is missing
      return (await response.json()) as any;
    };
    const qr = async () => {
      const code = { scenario: 'C2B', amount_kopecks: 10_000 };
      return (await simulator.call('POST', '/sim/qrs', code, 'token')).body;
    };

    const asked = [
      { mode: 'live', key: randomUUID(), body: { qr_url: (await qr()).link, metadata: { order: 1 } } },
      { mode: 'live', key: randomUUID(), body: { qr_url: (await qr()).link, external_id: 'order 2' } },
      ...[10_000, 10_001, 10_002].map(kopecks => ({
        mode: 'test',
        key: randomUUID(),
        body: { qr_url: newLink(kopecks) },
      })),
    ] as { mode: 'live' | 'test'; key: string; body: object }[];
    const quote = await call(old.address, 'live', '/v1/quote', { amount_rub: '100.00', lock: true });
    asked.push({
      mode: 'live',
      key: randomUUID(),
      body: { qr_url: (await qr()).link, quote_id: quote.quote_id },
    });
    const unused = await call(old.address, 'live', '/v1/quote', { amount_rub: '100.00', lock: true });
    const paid = await Promise.all(
      asked.map(({ mode, key, body }) => call(old.address, mode, '/v1/payments', body, key)),
    );
    expect(paid.map(({ status }) => status)).toEqual([
      'succeeded',
      'succeeded',
      'succeeded',
      'failed',
      'processing',
      'succeeded',
    ]);
    const since = new Date(Date.now() - 60_000).toISOString();
    await simulator.call('POST', `/sim/orders/${paid[0].id}/refunds`, { amount_kopecks: 250 }, 'token');
    await runOld('refund', 'read', '--since', since);
    await expect.poll(() => receiver.received.length).toBe(5 + 3 + 1);
    const before = await Promise.all(
      asked.map(({ mode }, nth) => call(old.address, mode, `/v1/payments/${paid[nth].id}`)),
    );
    expect(await runOld('ledger', 'verify')).toMatchObject({ ok: true });

    expect(await kopeck(env, 'migrate')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('stop all of them first'),
    });
    expect(await old.stop()).toBe(0);
    const { rows } = await pool.query('DELETE FROM schema_migrations WHERE version = 40 RETURNING *');
    expect(await kopeck(env, 'migrate')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('start version 0.1.0 with it once'),
    });
    await pool.query(
      'INSERT INTO schema_migrations SELECT * FROM json_populate_record(NULL::schema_migrations, $1)',
      [JSON.stringify(rows[0])],
    );
    expect(await kopeck(env, 'migrate')).toMatchObject({ code: 0 });

    expect(await findChangedSchema(pool)).toEqual({ isNewer: false, faults: [] });
    const { pool: created } = await createDatabase();
    expect(await readWholeSchema(pool)).toEqual(await readWholeSchema(created));
    expect(await kopeck(env, 'ledger', 'verify')).toMatchObject({ code: 0 });
    const now = await startService(env);
    for (const [nth, { mode, key, body }] of asked.entries()) {
      const repeated = await call(now.address, mode, '/v1/payments', body, key);
      if (before[nth].status === 'processing') expect(repeated).toMatchObject({ id: before[nth].id });
      else expect(repeated).toEqual(before[nth]);
    }
    const last = { qr_url: (await qr()).link, quote_id: unused.quote_id };
    expect(await call(now.address, 'live', '/v1/payments', last)).toMatchObject({ status: 'succeeded' });
    await expect
      .poll(() => call(now.address, 'test', `/v1/payments/${paid[4].id}`))
      .toMatchObject({ status: 'succeeded' });
    await expect.poll(() => receiver.received.length).toBe(5 + 3 + 1 + 3);
    expect(await now.stop()).toBe(0);
    expect(await kopeck(env, 'ledger', 'verify')).toMatchObject({ code: 0 });
  },
  180_000,
);
