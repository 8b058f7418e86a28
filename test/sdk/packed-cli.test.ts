import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Command } from 'commander';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createPartnerProgram } from '../../src/cli/partner-program.ts';
import { sign } from '../../src/webhooks/delivery/signatures.ts';
import { createPartnerWithKeys, setRate, startApi } from '../helpers/api.ts';
import { spawnProgram } from '../helpers/cli.ts';
import { createDatabase } from '../helpers/database.ts';
import { newFolder } from '../helpers/folders.ts';
import { startReceiver } from '../helpers/webhook-receiver.ts';
import { npm } from '../install/packed.ts';
import { root, run, runtimes } from './packed.ts';

const source = join(root, 'sdk-cli');
const { dependencies, version } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));

/** An empty folder with the package as it would be published. */
const project = newFolder();
writeFileSync(join(project, 'package.json'), '{ "private": true }');
run('npm', ['pack', '--pack-destination', project], source);
const tarball = readdirSync(project).find(name => name.endsWith('.tgz'))!;
const isInstalled = npm(['install', `./${tarball}`], project);
const program = join(project, 'node_modules/kopeck-cli/dist/kopeck-cli.js');

test('its dependencies are those of the service, in the same versions', () => {
  const service = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  for (const [name, pinned] of Object.entries(dependencies))
    expect([name, pinned]).toEqual([name, service.dependencies[name]]);
});

test('its README names every command with its options', () => {
  const screen = { write: () => true };
  const leavesOf = (command: Command, path: string[]): [string, Command][] =>
    command.commands.length === 0
      ? [[path.join(' '), command]]
      : command.commands.flatMap(one => leavesOf(one, [...path, one.name()]));
  const leaves = leavesOf(createPartnerProgram({ env: {}, stdout: screen, stderr: screen }, version), [
    'kopeck-cli',
  ]);
  const readme = readFileSync(join(source, 'README.md'), 'utf8');
  const rows = Array.from(
    readme.matchAll(/^\| `(kopeck-cli [a-z ]+?)(?: <\w+>)?` \|([^|]*)\|/gm),
    ([, path, options]) => [path!, Array.from(options!.matchAll(/`(--[\w-]+)/g), ([, name]) => name!)],
  );
  const common = ['--json', '--key', '--url'];
  expect(Object.fromEntries(rows)).toEqual(
    Object.fromEntries(
      leaves.map(([path, command]) => [
        path,
        command.options.map(({ long }) => long!).filter(name => !common.includes(name)),
      ]),
    ),
  );
});

describe.runIf(isInstalled)('installed in an empty folder', async () => {
  const { pool } = await createDatabase();
  await setRate(pool);
  const { address } = await startApi({ pool });
  const { testKey } = await createPartnerWithKeys(pool);
  const secret = 'whsec_of_the_developer';
  const env = {
    KOPECK_URL: address,
    KOPECK_KEY: testKey,
    KOPECK_WEBHOOK_SECRET: secret,
    PATH: process.env.PATH!,
  };

  /** Not the blocking way: the service is in this process. */
  const call = async (node: string, ...args: string[]) => {
    const { stdout } = await promisify(execFile)(node, [program, ...args], { cwd: project, env });
    return stdout;
  };
  const json = async (...args: string[]) => JSON.parse(await call(process.execPath, ...args, '--json'));
  const refusal = (...args: string[]) =>
    call(process.execPath, ...args).then(
      () => undefined,
      ({ code, stderr }) => ({ code, stderr }),
    );

  test('has the commands for partners and no server', () => {
    const installed = join(project, 'node_modules/kopeck-cli');
    expect(readdirSync(installed).sort()).toEqual([
      'LICENSE',
      'README.md',
      'README.ru.md',
      'dist',
      'package.json',
    ]);
    expect(readdirSync(join(installed, 'dist'))).toEqual(['kopeck-cli.js']);
    const code = readFileSync(program, 'utf8');
    const imported = Array.from(code.matchAll(/^import .*? ?['"]([^'"]+)['"];$/gm), ([, name]) => name!);
    expect(imported.filter(name => !name.startsWith('node:') && !(name in dependencies))).toEqual([]);
    expect(code).not.toMatch(/INSERT INTO|CREATE TABLE|fastify/);
    expect(code.length).toBeLessThan(400_000);
    expect(existsSync(join(project, 'node_modules/.bin/kopeck-cli'))).toBe(true);
  });

  test.each(runtimes().filter(({ version }) => Number(version) >= 22))(
    'triggers, lists and shows a payment on Node $version',
    async ({ path }) => {
      const payment = JSON.parse(await call(path, 'trigger', 'payment.failed', '--json'));
      expect(payment).toMatchObject({ status: 'failed', mode: 'test' });
      const { payments } = JSON.parse(await call(path, 'payments', 'list', '--status', 'failed', '--json'));
      expect(payments).toContainEqual(payment);
      expect(await call(path, 'payments', 'show', payment.id)).toMatch(
        new RegExp(`^payment +${payment.id} \\(test\\)\nstatus +failed, gateway_declined\n`),
      );
      expect(await call(path, '--version')).toBe(`${version}\n`);
    },
  );

  test('lists exactly what is asked for', async () => {
    for (const _ of [1, 2, 3]) await json('trigger', 'payment.succeeded');
    const { payments } = await json('payments', 'list', '--limit', '2');
    expect(payments).toHaveLength(2);
    const [{ external_id }] = payments;
    expect((await json('payments', 'list', '--external-id', external_id)).payments).toEqual([payments[0]]);
    const { events } = await json('webhooks', 'events', '--limit', '2');
    expect(events).toHaveLength(2);
    const rest = await json('webhooks', 'events', '--after', events[0].id);
    expect(rest.events[0]).toEqual(events[1]);
    for (const wrong of [
      ['payments', 'list', '--limit', '0'],
      ['webhooks', 'events', '--after', 'now'],
    ])
      expect(await refusal(...wrong)).toMatchObject({ code: 2 });
    expect(await refusal('payments', 'show', 'pay_none')).toMatchObject({ code: 1 });
  });

  test('forwards events to a local program, and checks the signature of one', async () => {
    const receiver = await startReceiver();
    const listener = spawnProgram(program, env, ['listen', '--forward-to', receiver.url]);
    onTestFinished(() => void listener.child.kill('SIGKILL'));
    await expect.poll(() => listener.output.stderr).toContain('Press Ctrl-C to stop.');
    const payment = await json('trigger', 'payment.succeeded');
    await expect.poll(() => receiver.received.length).toBe(1);
    const { body, headers, json: event } = receiver.received[0]!;
    expect(event).toMatchObject({ event: 'payment.succeeded', data: { id: payment.id } });
    listener.child.kill('SIGINT');
    expect(await listener.ended).toBe(0);

    const file = join(project, 'body.json');
    writeFileSync(file, body);
    const verify = (signature: string, ...more: string[]) => [
      'webhooks',
      'verify',
      file,
      '--signature',
      signature,
      ...more,
    ];
    const signature = `${headers['x-service-signature']}`;
    expect(await json(...verify(signature))).toEqual({ verified: true, event });
    const old = sign([secret], 1_700_000_000, body);
    expect(await refusal(...verify(old))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('off by more'),
    });
    expect(await call(process.execPath, ...verify(old, '--any-age'))).toContain(
      `The signature is right: ${event.id}`,
    );
    expect(await refusal(...verify(sign(['whsec_other_one'], 1, body)))).toMatchObject({ code: 1 });
    expect(await refusal('webhooks', 'verify', '/none', '--signature', signature)).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^\/none cannot be read: [^\n]+\n$/),
    });
  });
});
