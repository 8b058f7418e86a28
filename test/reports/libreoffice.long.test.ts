import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readXlsx } from 'hucre/xlsx';
import { extractText } from 'unpdf';
import { describe, expect, test } from 'vitest';
import { newFolder } from '../helpers/folders.ts';
import { cellsOf, createReportWorld } from './world.ts';

const isInstalled = spawnSync('soffice', ['--version']).status === 0;
if (!isInstalled)
  console.warn(
    '\n!!! LibreOffice is not installed: its tests are SKIPPED. Run .ci/run --long to install it.\n',
  );

const world = await createReportWorld('2025-09-20T09:00:00Z');
await world.topUp('2025-09-20T09:00:00Z', 1_500_000_000n, 'deposit:tron:f00d:0');
const recipient = 'Ёлка; «Щука» & Ко';
const paid = await world.pay('2025-10-01T09:00:00Z', 'succeeded', { externalId: '=1+1', recipient });
await world.refund('2025-10-15T09:00:00Z', paid, 5_000);
await world.until('2025-11-02T09:00:00Z');
const october = ['2025-10-01', '2025-10-31'] as const;

const folder = newFolder();
const profile = `-env:UserInstallation=file://${join(folder, 'profile')}`;

/** A semicolon, the double quote, UTF-8. */
const csv = '59,34,76';
/** Numbers as people of Russia write them. */
const russian = `${csv},1,,1049,false,true`;

/** What LibreOffice makes of a file. */
function converted(name: string, bytes: Uint8Array, to: string, ...options: string[]): Buffer {
  writeFileSync(join(folder, name), bytes);
  const out = join(folder, 'out');
  const run = spawnSync(
    'soffice',
    [profile, '--headless', ...options, '--convert-to', to, '--outdir', out, join(folder, name)],
    { encoding: 'utf8' },
  );
  expect(run.status, run.stderr).toBe(0);
  return readFileSync(join(out, name.replace(/\.\w+$/, `.${to.split(':', 1)[0]}`)));
}

describe.skipIf(!isInstalled)('LibreOffice', () => {
  test('reads the workbook: its columns, amounts, times and letters', async () => {
    const bytes = converted(
      'report.xlsx',
      await world.file(...october, 'xlsx'),
      `csv:Text - txt - csv (StarCalc):${csv},1`,
    );
    const [header, opening, row, refund, closing] = cellsOf(bytes.toString('utf8').replace(/^\ufeff/, ''));
    expect(header!.slice(0, 8).join('|')).toBe(
      'Дата и время|Операция|Статус|Номер заказа|ID платежа|Получатель|Сумма, ₽|Курс, ₽ за 1 USDT',
    );
    expect(opening!.slice(10, 12)).toEqual(['0.000000', '1,500.000000']);
    expect(row!.slice(0, 9)).toEqual([
      ...['01.10.2025 12:00:00', 'Платёж', 'Оплачен', '=1+1', paid, recipient],
      ...['150.00', '92.5000', '1.621622'],
    ]);
    expect(refund!.slice(6, 12)).toEqual(['50.00', '92.5000', '', '0.540540', '', '1,498.918918']);
    expect(closing![11]).toBe('1,498.918918');
  });

  test('reads the CSV file: amounts are numbers, and no text is a formula', async () => {
    const { sheets } = await readXlsx(
      converted('report.csv', await world.file(...october, 'csv'), 'xlsx', `--infilter=CSV:${russian}`),
    );
    const [header, opening, row, refund] = sheets[0]!.rows;
    expect(header!.slice(0, 4)).toEqual(['Дата и время', 'Операция', 'Статус', 'Номер заказа']);
    expect(opening![11]).toBe(1_500);
    expect(row!.slice(1, 9)).toEqual([
      ...['Платёж', 'Оплачен', "'=1+1", paid, recipient],
      ...[150, 92.5, 1.621622],
    ]);
    expect(row![0]).toEqual(new Date('2025-10-01T12:00:00Z'));
    expect(refund![9]).toBe(0.54054);
  });
});

test('the text of the act is read', async () => {
  const { text } = await extractText(new Uint8Array(await world.file(...october, 'pdf')), {
    mergePages: true,
  });
  expect(text.replaceAll(/[\s\u00a0]+/g, ' ')).toContain('Сальдо на конец 1 498,918918');
});
