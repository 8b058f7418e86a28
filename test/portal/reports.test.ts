import { extractText } from 'unpdf';
import { expect, test } from 'vitest';
import { addDays, dayIn } from '../../src/base/calendar.ts';
import { uuidFromId } from '../../src/base/ids.ts';
import { changesOf } from '../../src/db/audit/index.ts';
import { createPartnerWithKeys, newLink, partnerAt, setRate } from '../helpers/api.ts';
import { answers } from '../helpers/console.ts';
import { createTimedDatabase } from '../helpers/database.ts';
import { startPortal } from '../helpers/portal.ts';

const { pool, sql, clock } = await createTimedDatabase(new Date().toISOString());
const { member, address } = await startPortal({ pool, clock });
await setRate(pool, clock);
const { partnerId, testKey } = await createPartnerWithKeys(pool);
const api = partnerAt(address, testKey);
const { json: paid } = await api.pay({ qr_url: newLink(10_000), external_id: 'order 1' });
await api.pay({ qr_url: newLink(10_001) });
const viewer = await member(partnerId, 'viewer');

const today = () => dayIn('Europe/Moscow', clock.nowMs());
const path = (from: string, to: string, format = 'csv', language = 'ru') =>
  `/report?mode=test&from=${from}&to=${to}&format=${format}&language=${language}`;
const bytesOf = async (of: string) => {
  const response = await fetch(`${address}/portal/api/partners/${partnerId}${of}`, {
    headers: { cookie: viewer.cookie! },
  });
  expect(response.status).toBe(200);
  return { headers: response.headers, bytes: new Uint8Array(await response.arrayBuffer()) };
};
const textOf = async (bytes: Uint8Array) =>
  (await extractText(bytes, { mergePages: true })).text.replaceAll(/[\s\u00a0]+/g, ' ');

test('each format is a file with its name and type', async () => {
  const types = {
    csv: ['kopeck', 'csv', 'text/csv; charset=utf-8'],
    xlsx: ['kopeck', 'xlsx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
    '1c': ['kl_to_1c', 'txt', 'text/plain; charset=windows-1251'],
    pdf: ['act', 'pdf', 'application/pdf'],
  };
  for (const [format, [start, ending, type]] of Object.entries(types)) {
    const { headers, bytes } = await bytesOf(path(today(), today(), format));
    expect(headers.get('content-type')).toBe(type);
    expect(headers.get('content-disposition')).toBe(
      `attachment; filename="${start}-${partnerId}-test-${today()}.${ending}"`,
    );
    expect(bytes.length).toBeGreaterThan(200);
  }
});

test('the report of today has its payments and says that it is not over', async () => {
  const { text } = await viewer.read(path(today(), today(), 'csv', 'en'));
  expect(text).toContain(`;Payment;Succeeded;order 1;${paid.id};`);
  expect(text).toContain(';Payment;Failed;;');
  expect(text).toContain(';Test top-up;Credited;');
  expect(text).toContain(';State;;The period is not over: as of ');
});

test('a period of which there is no report gets an answer that says why', async () => {
  const why = async (from: string, to: string) => {
    const { status, json } = await viewer.read(path(from, to));
    return `${status} ${json.error.code}: ${json.error.message}`;
  };
  const tomorrow = addDays(today(), 1);
  const notDays = '400 invalid_request: Choose two days of the calendar, such as 2026-10-01 and 2026-10-31.';
  expect(await why('2026-02-30', '2026-03-01')).toBe(notDays);
  expect(await why('', today())).toBe(notDays);
  expect(await why("2026-01-01'; --", today())).toBe(notDays);
  expect(await why('2025-03-02', '2025-03-01')).toBe(
    '400 invalid_request: The first day must not be after the last one.',
  );
  expect(await why(today(), tomorrow)).toBe('400 invalid_request: The period must not end after today.');
  expect(await why('2024-01-01', '2025-01-01')).toBe(
    '400 invalid_request: Choose a period of at most a year.',
  );
  await answers(200, viewer.read(path('2024-01-01', '2024-12-31')));
  for (const format of ['doc', '']) await answers(422, viewer.read(path(today(), today(), format)));
  await answers(422, viewer.read(path(today(), today(), 'csv', 'de')));
  await answers(422, viewer.read(path('2026-01-01'.repeat(3), today())));
});

test('a period whose payments have left the archive is refused', async () => {
  await sql`INSERT INTO archived_months (month, dropped_at) VALUES ('2023-05-01', now())`;
  await answers('404 left_archive', viewer.read(path('2023-05-01', '2023-05-31')));
  await answers('404 left_archive', viewer.read(path('2023-06-01', '2023-06-30')));
  await answers(200, viewer.read(path('2023-08-01', '2023-08-31')));
});

test('owners change the time zone, on record, and days and reports follow it', async () => {
  const { partnerId } = await createPartnerWithKeys(pool);
  const owner = await member(partnerId, 'owner');
  const zoneOf = async () => (await owner.get('/session/current')).json.session.partners[0].time_zone;
  expect(await zoneOf()).toBe('Europe/Moscow');
  await answers(403, (await member(partnerId, 'developer')).act('/time-zone', { time_zone: 'UTC' }));
  for (const time_zone of ['Moscow', '+03:00', 'Europe/Nowhere', ' ']) {
    const { status, json } = await owner.act('/time-zone', { time_zone });
    expect(`${status} ${json.error.message}`).toBe(
      '400 Choose a time zone by its IANA name, such as Europe/Moscow.',
    );
  }
  // On the other side of the date line: another day for most of the time.
  const time_zone = 'Pacific/Kiritimati';
  await answers(200, owner.act('/time-zone', { time_zone }));
  await answers(200, owner.act('/time-zone', { time_zone }));
  expect(await zoneOf()).toBe(time_zone);
  const zoneChanges = (await changesOf(pool, partnerId)).filter(
    ({ action }) => action === 'partner.time_zone',
  );
  expect(zoneChanges).toMatchObject([
    {
      actor: `telegram:${owner.person.userId}`,
      before: { time_zone: 'Europe/Moscow' },
      after: { time_zone },
    },
  ]);
  const there = dayIn(time_zone, clock.nowMs());
  expect((await owner.read('/overview?mode=test&days=1')).json.days[0].day).toBe(there);
  await answers(200, owner.read(path(there, there)));
  await answers(400, owner.read(path(addDays(there, 1), addDays(there, 1))));
});

test('a payment has a receipt in both languages, and no payment has none', async () => {
  const receipt = async (language: string) =>
    textOf((await bytesOf(`/payments/${paid.id}/receipt?language=${language}`)).bytes);
  expect(await receipt('ru')).not.toContain('Номер операции СБП');
  await pool.query(`INSERT INTO operation_numbers VALUES ($1, 'A631-of-sbp')`, [uuidFromId(paid.id)]);
  const russian = await receipt('ru');
  for (const part of [
    'Квитанция о платеже',
    'Тестовый режим',
    'order 1',
    paid.id,
    '100,00',
    'Оплачен',
    'Номер операции СБП A631-of-sbp',
    paid.recipient,
  ])
    expect(russian).toContain(part);
  expect(await receipt('en')).toContain('Status Succeeded');
  await answers(404, viewer.read('/payments/pay_01h455vb4pex5vsknk084sn02q/receipt?language=en'));
  await answers(404, viewer.read('/payments/nothing/receipt?language=en'));
  await answers(422, viewer.read(`/payments/${paid.id}/receipt?language=de`));
});
