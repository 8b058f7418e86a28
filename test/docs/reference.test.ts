import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Command, Option } from 'commander';
import { describe, expect, test } from 'vitest';
import { readSettings } from '../../src/base/settings.ts';
import { createProgram } from '../../src/cli/program.ts';
import { xpub } from '../deposits/world.ts';
import { listMetrics } from '../helpers/all-metrics.ts';
import { createDatabase } from '../helpers/database.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

/** The cells of all table rows whose first cell is code; `|` inside code is not used in these files. */
const rowsOf = (text: string) =>
  text
    .split('\n')
    .filter(line => line.startsWith('| `'))
    .map(line =>
      line
        .slice(1, -1)
        .split('|')
        .map(cell => cell.trim()),
    );

describe('docs/reference/commands.md', async () => {
  const screen = { write: () => true };
  const program = await createProgram({ env: {}, stdout: screen, stderr: screen });

  const describeOption = ({ flags, mandatory, defaultValue }: Option) =>
    `\`${flags}\`${mandatory ? ' (required)' : ''}${defaultValue === undefined ? '' : ` (default \`${defaultValue}\`)`}`;

  function leavesOf(command: Command, path: string[]): [usage: string, command: Command][] {
    if (command.commands.length > 0)
      return command.commands.flatMap(sub => leavesOf(sub, [...path, sub.name()]));
    const parameters = command.registeredArguments.map(argument =>
      argument.required ? `<${argument.name()}>` : `[${argument.name()}]`,
    );
    return [[[...path, ...parameters].join(' '), command]];
  }

  const commands = new Map(leavesOf(program, ['kopeck']));
  const documented = new Map(
    rowsOf(read('docs/reference/commands.md')).map(([usage = '', options = '']) => [
      usage.replaceAll('`', ''),
      options,
    ]),
  );

  test('lists every command and no other', () => {
    expect([...documented.keys()].sort()).toEqual([...commands.keys()].sort());
  });

  test.each([...commands])('gives the options of %s', (usage, command) => {
    const options = command.options.filter(({ long }) => long !== '--json');
    expect(documented.get(usage)).toBe(options.map(describeOption).join(', '));
  });

  test('is right that every command except start and completion takes --json', () => {
    const without = [...commands].filter(([, { options }]) => !options.some(({ long }) => long === '--json'));
    expect(without.map(([usage]) => usage)).toEqual(['kopeck start', 'kopeck completion <shell>']);
  });
});

describe('docs/reference/settings.md', () => {
  const namesRead = new Set<string>();
  const defaults = readSettings(
    new Proxy<Record<string, string>>(
      {},
      {
        get: (_target, name) => {
          namesRead.add(String(name));
          return undefined;
        },
      },
    ),
  );

  const documented = rowsOf(read('docs/reference/settings.md')).map(
    ([name = '', byDefault = '']) =>
      [name.replaceAll('`', ''), byDefault === 'none' ? undefined : byDefault.replaceAll('`', '')] as const,
  );

  test('lists every setting and no other', () => {
    expect(documented.map(([name]) => name).sort()).toEqual([...namesRead].sort());
  });

  /** A valid value of each setting whose default is `none`, so that a default which the page leaves out is noticed. */
  const samples = Object.fromEntries(
    `METRICS_PORT=9464 OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318 PUBLIC_URL=https://pay.example.com
    SUPPORT_URL=https://t.me/kopeck_help TRUST_PROXY=10.0.0.0/8 PROCESSES=3 NODE_ENV=production DATABASE_URL=postgresql://user@host/database
    AUDIT_HEADS=/mnt/audit-heads ARCHIVE_AFTER_MONTHS=6 BACKUP_DIR=/mnt/backups AWS_ACCESS_KEY_ID=id
    AWS_SECRET_ACCESS_KEY=key AWS_SESSION_TOKEN=token AWS_REGION=eu-central-1
    AWS_ENDPOINT_URL=https://minio.example.com SECRET_KEY=${'k'.repeat(32)} SECRET_KEY_PREVIOUS=${'p'.repeat(32)}
    GATEWAY_URL=https://bank.example.com GATEWAY_TOKEN=token RATE_SOURCES=rapira CRYPTO_PAY_TOKEN=token
    TELEGRAM_BOT_NAME=@kopeck_bot TELEGRAM_BOT_TOKEN=1:${'a'.repeat(30)} TELEGRAM_STAFF_CHAT=-1001
    TELEGRAM_WEBHOOK_URL=https://pay.example.com/telegram TELEGRAM_WEBHOOK_SECRET=${'s'.repeat(16)}
    DEPOSIT_CHAINS=tron DEPOSIT_SCREEN_URL=https://screen.example.com/deposits
    SMTP_URL=smtps://mail.example.com SMTP_FROM=reports@example.com`
      .split(/\s+/)
      .map(line => line.split(/=(.*)/, 2) as [string, string]),
  );
  const { SECRET_KEY, SMTP_URL, SMTP_FROM, TELEGRAM_WEBHOOK_URL, TELEGRAM_WEBHOOK_SECRET } = samples;
  /** What a setting needs beside it. */
  const companions: Record<string, object> = {
    NODE_ENV: { SECRET_KEY, WEBHOOK_ALLOW_PRIVATE: 'false' },
    SECRET_KEY_PREVIOUS: { SECRET_KEY },
    SMTP_URL: { SMTP_FROM },
    SMTP_FROM: { SMTP_URL },
    TELEGRAM_WEBHOOK_URL: { TELEGRAM_WEBHOOK_SECRET },
    TELEGRAM_WEBHOOK_SECRET: { TELEGRAM_WEBHOOK_URL },
    DEPOSIT_CHAINS: { DEPOSIT_TRON_RPC: 'https://node.example.com', DEPOSIT_TRON_XPUB: xpub },
  };

  test.each(documented)('gives the default of %s', (name, byDefault) => {
    if (byDefault !== undefined) {
      expect(readSettings({ [name]: byDefault })).toEqual(defaults);
      return;
    }
    if (!samples[name]) throw new Error(`add a valid value of ${name} to the samples of this test`);
    const changed = Object.entries(readSettings({ [name]: samples[name], ...companions[name] })).filter(
      ([key, value]) => !isDeepStrictEqual(value, defaults[key as keyof typeof defaults]),
    );
    expect(changed).not.toEqual([]);
    // NODE_ENV has no value of its own: it changes the defaults of others.
    if (name === 'NODE_ENV') return;
    for (const [key] of changed)
      expect([undefined, []]).toContainEqual(defaults[key as keyof typeof defaults]);
  });
});

describe('README.md', () => {
  test('quotes its figures from bench/README.md', () => {
    // The bench prints narrow spaces between thousands; people type plain ones.
    const cellsOf = (line: string) => line.split('|').map(cell => cell.trim().replaceAll(/\s/g, ' '));
    const measured = read('bench/README.md')
      .split('\n')
      .filter(line => line.startsWith('|'))
      .map(cellsOf);
    const quoted = read('README.md')
      .split('<!-- figures -->')[1]!
      .split('<!-- /figures -->')[0]!
      .split('\n')
      .filter(line => /^\| (?!what|---)/.test(line))
      .map(cellsOf);
    expect(quoted.length).toBeGreaterThan(0);
    for (const [, what, ...figures] of quoted) {
      const row = measured.find(cells => cells[1] === what);
      expect(row, `bench/README.md has no row "${what}"`).toBeDefined();
      for (const figure of figures.filter(cell => cell !== '')) expect(row).toContain(figure);
    }
  });
});

const ofNode = /^(process|nodejs)_/;

test('docs/reference/metrics.md lists every metric with its kind and labels, and no other', () => {
  const page = read('docs/reference/metrics.md');
  const documented = Array.from(
    page.matchAll(/^\| `(\w+)` \| (.*?) ?\| (\w+)/gm),
    ([, name, labels, type]) => ({
      name: name!,
      type: type!.toLowerCase(),
      labels: Array.from(labels!.matchAll(/\w+/g), ([label]) => label),
    }),
  );
  const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1);
  expect(documented.sort(byName)).toEqual(
    listMetrics()
      .filter(({ name }) => !ofNode.test(name))
      .sort(byName),
  );
});

test('the metrics of Node are there', () => {
  const names = listMetrics().map(({ name }) => name);
  for (const name of ['process_cpu_seconds_total', 'nodejs_eventloop_lag_p99_seconds'])
    expect(names).toContain(name);
});

test('what bounds each table is written down', async () => {
  const [, section] = read('docs/internals/database.md').split('## What bounds each table\n');
  const rows = section!.split('\n## ')[0]!.matchAll(/^\| ((?:`\w+`(?:, )?)+) \|/gm);
  const documented = [...rows].flatMap(([, names]) => names!.match(/\w+/g) ?? []);
  const { sql } = await createDatabase();
  const tables = await sql`SELECT relname AS name FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition`;
  expect(documented.sort()).toEqual(tables.map(({ name }) => name).sort());
});
