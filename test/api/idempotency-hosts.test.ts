import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { uuidFromId } from '../../src/base/ids.ts';
import { crc16 } from '../../src/base/qr.ts';
import { readBalances } from '../../src/ledger/index.ts';
import { newLink, partnerAt, startApi } from '../helpers/api.ts';
import { codeOf, isReplay, startIdempotencyWorld } from './idempotency-world.ts';

const { pool, clock, address, newPartner } = await startIdempotencyWorld();

/** The service after a restart with these QR_HOSTS. */
const restartedWith = async (...qrHosts: string[]) => (await startApi({ pool, clock, qrHosts })).address;
const swapped = await restartedWith('web.qr.nspk.ru', 'qr.nspk.ru');
const replaced = await restartedWith('qr.example.com');
const details = { amount_rub: '100.00', external_id: 'order', metadata: { b: 2, a: 1 } };

/** A link whose checksum is that of another host, as a link copied from the web form has it. */
function copiedLink(): string {
  const original = `${newLink(10_000)}&crc=`;
  return original.replace('https://qr.', 'https://web.qr.') + crc16(original.replace(/&crc=$/, ''));
}

describe('a repeat after a change of QR_HOSTS', () => {
  test.each([
    ['swapped hosts', swapped, newLink(10_000)],
    ['swapped hosts and a copied link', swapped, copiedLink()],
    ['other hosts', replaced, newLink(10_000)],
    [
      'other hosts and the link of a banking app',
      replaced,
      newLink(10_000).replace('https', 'bank100000000004'),
    ],
  ])('with %s is a replay, and debits once', async (_name, restarted, link) => {
    const partner = await newPartner();
    const body = { qr_url: link, ...details };
    const first = await partner.pay(body, 'same');
    expect(codeOf(first)).toBe('200 succeeded');
    const again = await partnerAt(restarted, partner.testKey).pay(body, 'same');
    expect([codeOf(again), again.json.id, isReplay(again)]).toEqual(['200 succeeded', first.json.id, true]);
    expect((await readBalances(pool, partner.partnerId)).test.settledMicroUsdt).toBe(1_081_082n);
  });

  test('with another form of the link is a replay', async () => {
    const partner = await newPartner();
    const link = newLink(10_000);
    const first = await partner.pay({ qr_url: link.replace('https', 'bank100000000004') }, 'form');
    for (const at of [address, swapped, replaced]) {
      const again = await partnerAt(at, partner.testKey).pay({ qr_url: link }, 'form');
      expect([codeOf(again), again.json.id, isReplay(again)]).toEqual(['200 succeeded', first.json.id, true]);
    }
  });

  test.each([
    ['another code', { qr_url: newLink(10_000) }],
    ['another amount', { amount_rub: '100.01' }],
    ['another order', { external_id: 'other' }],
    ['other metadata', { metadata: { a: 1 } }],
  ])('with %s is a conflict', async (_name, change) => {
    const partner = await newPartner();
    const body = { qr_url: newLink(10_000), ...details };
    await partner.pay(body, 'same');
    for (const restarted of [swapped, replaced]) {
      const other = await partnerAt(restarted, partner.testKey).pay({ ...body, ...change }, 'same');
      expect(codeOf(other)).toBe('409 idempotency_conflict');
    }
  });

  test.each([
    ['a subscription', (link: string) => link.replace('//qr.', '//sub.')],
    ['the code without its link', (link: string) => link.replace('https://qr.nspk.ru/', '')],
  ])('with %s is a conflict', async (_name, change) => {
    const partner = await newPartner();
    const body = { qr_url: newLink(), ...details };
    await partner.pay(body, 'same');
    expect(codeOf(await partner.pay({ ...body, qr_url: change(body.qr_url) }, 'same'))).toBe(
      '409 idempotency_conflict',
    );
  });
});

describe('a payment whose hash contains the host', () => {
  /** A payment as an earlier version stored it: with the first of its hosts in the link and in the hash. */
  async function payAsBefore(host: string) {
    const partner = await newPartner();
    const body = { qr_url: newLink(10_000), ...details };
    const first = await partner.pay(body, 'before');
    const url = body.qr_url.replace('qr.nspk.ru', host);
    const meaning = JSON.stringify([url, '10000', 'order', '{"a":1e0,"b":2e0}']);
    const hash = createHash('sha256').update(meaning).digest();
    await pool.query('UPDATE payments SET qr_url = $2, request_hash = $3 WHERE id = $1', [
      uuidFromId(first.json.id),
      url,
      hash,
    ]);
    return { partner, body, first };
  }

  test.each(['qr.nspk.ru', 'web.qr.nspk.ru', 'qr.gone.example'])('%s is recognised', async host => {
    const { partner, body, first } = await payAsBefore(host);
    for (const at of [address, swapped, replaced]) {
      const again = await partnerAt(at, partner.testKey).pay(body, 'before');
      expect([codeOf(again), again.json.id, isReplay(again)]).toEqual(['200 succeeded', first.json.id, true]);
    }
  });

  test('still conflicts with another request', async () => {
    const { partner, body } = await payAsBefore('qr.nspk.ru');
    const other = await partner.pay({ ...body, external_id: 'other' }, 'before');
    expect(codeOf(other)).toBe('409 idempotency_conflict');
  });
});
