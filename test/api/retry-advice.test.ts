import { randomUUID } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import { errors } from '../../src/base/errors.ts';
import { setMaintenance } from '../../src/controls/index.ts';
import { createPartnerWithKeys, newLink, partnerAt, setRate, startApi } from '../helpers/api.ts';
import { auditContextOf, createDatabase } from '../helpers/database.ts';
import { sendRaw } from '../helpers/raw-http.ts';

const { pool } = await createDatabase();
const { address } = await startApi({ pool });
beforeEach(() => setRate(pool));

const adviceIn = ({ json }: { json: { error: { code: string; retryable: boolean; same_key: boolean } } }) => {
  const { code, retryable, same_key } = json.error;
  return { code, retryable, same_key };
};

test('errors that the contract calls temporary are retryable, those that need a fix are not', () => {
  const retryable = Object.entries(errors).filter(([, error]) => error.retryable);
  expect(retryable.map(([code, { status }]) => `${status} ${code}`)).toEqual([
    '422 qr_unresolvable',
    '429 rate_limited',
    '500 internal_error',
    '503 rate_unavailable',
    '503 gateway_unavailable',
    '503 gateway_busy',
    '503 maintenance',
  ]);
});

test('a key is given up only where there was none, or where it belongs to another payment', () => {
  const givenUp = Object.entries(errors).filter(([, error]) => !error.same_key);
  expect(givenUp.map(([code]) => code)).toEqual(['missing_idempotency_key', 'idempotency_conflict']);
});

test('every error that is answered carries it, on whichever way it is made', async () => {
  const { testKey } = await createPartnerWithKeys(pool);
  const partner = partnerAt(address, testKey);
  const key = randomUUID();
  await partner.pay({ qr_url: newLink(10_000) }, key);
  expect(adviceIn(await partner.pay({ qr_url: newLink(10_000) }, key))).toEqual({
    code: 'idempotency_conflict',
    retryable: false,
    same_key: false,
  });
  const waiting = newLink(10_002);
  await partner.pay({ qr_url: waiting });
  expect(adviceIn(await partner.pay({ qr_url: waiting }))).toEqual({
    code: 'duplicate_qr_in_flight',
    retryable: false,
    same_key: true,
  });
  expect(adviceIn(await partner.get('/v1/nothing'))).toMatchObject({ code: 'not_found', retryable: false });
  expect(adviceIn(await partnerAt(address, 'svc_test_x_y').get('/v1/ping'))).toMatchObject({
    code: 'unauthorized',
    retryable: false,
    same_key: true,
  });
  await setMaintenance(auditContextOf(pool), true);
  expect(adviceIn(await partner.pay({ qr_url: newLink(10_000) }))).toEqual({
    code: 'maintenance',
    retryable: true,
    same_key: true,
  });
  await setMaintenance(auditContextOf(pool), false);
  const notHttp = await sendRaw(address, 'this is not HTTP\r\n\r\n');
  expect(notHttp.json).toMatchObject({
    error: { code: 'invalid_request', retryable: false, same_key: true },
  });
});

test('a malformed request is answered as before', async () => {
  const { testKey } = await createPartnerWithKeys(pool);
  const { status, json } = await partnerAt(address, testKey).post('/v1/quote', { body: {} });
  expect({ status, fields: Object.keys(json) }).toEqual({ status: 422, fields: ['detail'] });
});
