import { afterAll, expect, test, vi } from 'vitest';
import { verifyLedger } from '../../src/ledger/index.ts';
import { createPartnerWithKeys, newLink, partnerAt, secretKey } from '../helpers/api.ts';
import { startService } from '../helpers/cli.ts';
import { createDatabase } from '../helpers/database.ts';
import { makeQr, startSimulator } from '../helpers/simulator.ts';
import { count } from './quotes-world.ts';

const { pool, url } = await createDatabase();
const token = 'a-token-of-the-gateway';
const simulator = await startSimulator({ GATEWAY_TOKEN: token });
const env = {
  DATABASE_URL: url,
  GATEWAY_URL: simulator.address,
  GATEWAY_TOKEN: token,
  RATE_SOURCES: 'fixed:92.50',
  RATE_SPREAD_BPS: '0',
  SECRET_KEY: secretKey,
  ROLES: 'api,worker',
  QUOTE_LOCK_PARTNER_USDT: '17',
};
const services = await Promise.all([startService(env), startService(env)]);
afterAll(() => Promise.all(services.map(service => service.stop())));
await vi.waitFor(
  async () => expect((await pool.query('SELECT FROM rates')).rowCount).toBeGreaterThan(0),
  10_000,
);
const atBoth = (key: string) => services.map(({ address }) => partnerAt(address, key));
const lockBody = { body: { amount_rub: '150.00', lock: true } };

test.each(['test', 'live'] as const)('two processes: one quote pays once, 15 times (%s)', async mode => {
  const customer = await createPartnerWithKeys(pool);
  const partners = atBoth(mode === 'live' ? customer.liveKey : customer.testKey);
  for (let round = 0; round < 15; round++) {
    const { json } = await partners[round % 2]!.post('/v1/quote', lockBody);
    const links = await Promise.all(
      partners.map(async () => (mode === 'live' ? (await makeQr(simulator)).link : newLink(15_000))),
    );
    const answers = await Promise.all(
      partners.map((partner, nth) => partner.pay({ qr_url: links[nth], quote_id: json.quote_id })),
    );
    const codes = count(answers.map(answer => answer.json.error?.code ?? answer.json.status));
    expect(codes).toEqual({ succeeded: 1, quote_used: 1 });
  }
  const { rows } = await pool.query(
    `SELECT count(*)::int AS payments, count(DISTINCT rate_e4)::int AS rates FROM payments WHERE mode = $1`,
    [mode],
  );
  expect(rows).toEqual([{ payments: 15, rates: 1 }]);
  expect((await verifyLedger(pool)).findings).toEqual([]);
});

test.each(['test', 'live'] as const)(
  'two processes: a request sent twice at once is one payment (%s)',
  async mode => {
    const customer = await createPartnerWithKeys(pool);
    const partners = atBoth(mode === 'live' ? customer.liveKey : customer.testKey);
    for (let round = 0; round < 10; round++) {
      const { json } = await partners[round % 2]!.post('/v1/quote', lockBody);
      const qr_url = mode === 'live' ? (await makeQr(simulator)).link : newLink(15_000);
      const request = { qr_url, quote_id: json.quote_id };
      const answers = await Promise.all(
        partners.map(partner => partner.pay(request, `twice-in-round-${round}`)),
      );
      const codes = count(answers.map(answer => answer.json.error?.code ?? answer.json.status));
      expect(codes).toEqual({ succeeded: 2 });
      expect(answers[0]!.json.id).toBe(answers[1]!.json.id);
    }
  },
);

test('two processes together lock no more than a partner may', async () => {
  const partners = atBoth((await createPartnerWithKeys(pool)).liveKey);
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, nth) => partners[nth % 2]!.post('/v1/quote', lockBody)),
  );
  // 1.629771 USDT each.
  const codes = count(answers.map(answer => answer.json.error?.code ?? 'locked'));
  expect(codes).toEqual({ locked: 10, quote_limit_exceeded: 50 });
});
