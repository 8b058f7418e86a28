import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { afterAll, type ExpectStatic } from 'vitest';
import { startService } from '../helpers/cli.ts';
import { createDatabase, createPartnerWithKeys, secretKey, setRate } from '../helpers/database.ts';
import { newFolder } from '../helpers/folders.ts';
import { processEnv } from '../helpers/process-env.ts';
import { pack, root, run } from '../sdk/packed.ts';
import {
  commandOf,
  isReceiver,
  isVerifier,
  type Prepared,
  type prepare,
  webhookCases,
} from './snippet-files.ts';
import { choose, type Guide, guides, type Language, patternOf, type Snippet, tidy } from './snippets.ts';

interface GuideContext {
  address: string;
  partnerId: string;
  testKey: string;
  liveKey: string;
  /** What `bin/kopeck` needs to find the same service. */
  env: Record<string, string>;
  /** Of the test that runs the guide; several run at the same time. */
  expect: ExpectStatic;
}

/** Programs start slowly on a busy machine. */
const slow = { timeout: 60_000 };

/** What is installed is tested elsewhere; here it only has to be the right name. The commands of `kopeck-cli` are those of the service. */
const shell = `
set -euo pipefail
. ./exported 2> /dev/null || true
npx() { [ "$1" = kopeck-cli ]; shift; node ${root}/src/cli/main.js "$@"; }
npm() { [ "$*" = 'install kopeck-client' ]; }
`;

/**
 * From its first snippet to its last, as a reader of the language would; what is exported stays, and servers go on until
 * the end.
 */
async function runGuide(
  guide: Guide,
  language: Language,
  prepared: Prepared,
  context: GuideContext,
): Promise<void> {
  const { expect } = context;
  const { folder: cwd, port } = prepared;
  const printed = { key: context.testKey, secret: 'whsec_none_yet' };
  const servers: { child: ChildProcess; output(): string; snippet: Snippet }[] = [];
  const filled = (text: string) =>
    text
      .replaceAll('svc_test_…', printed.key)
      .replaceAll('svc_live_…', context.liveKey)
      .replaceAll('whsec_…', printed.secret)
      .replaceAll('http://127.0.0.1:8080', context.address)
      .replaceAll('127.0.0.1:3000', `127.0.0.1:${port}`)
      .replaceAll('PARTNER', context.partnerId);
  const cases = webhookCases();
  const env = {
    ...context.env,
    PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
    KOPECK_URL: context.address,
    KOPECK_KEY: context.testKey,
    CASES: JSON.stringify(cases),
  };
  writeFileSync(join(cwd, 'exported'), '');
  // The reader of the first guides is in a checkout.
  mkdirSync(join(cwd, 'bin'), { recursive: true });
  symlinkSync(join(root, 'bin/kopeck'), join(cwd, 'bin/kopeck'));
  try {
    for (const snippet of guide.steps.flatMap(step => choose(step, language) ?? [])) {
      const { code, prints } = snippet;
      const command =
        snippet.language === 'sh'
          ? `${filled(code)}\nexport -p > exported`
          : commandOf(guide, snippet, prepared);
      if (command === undefined) continue;
      const { child, ended, output } = start(shell + command, cwd, env);
      if (isReceiver(snippet) || code.startsWith('npx kopeck-cli listen')) {
        servers.push({ child, output, snippet });
        if (isReceiver(snippet)) await expect.poll(() => isListening(port), slow).toBe(true);
        else await expect.poll(output, slow).toContain('Press Ctrl-C to stop');
        continue;
      }
      const place = `${guide.path}:${snippet.line}`;
      expect(await ended, `${place}\n${output()}`).toBe(0);
      if (isVerifier(snippet)) expect(JSON.parse(output()), place).toEqual(cases.map(one => one.isGood));
      else if (prints !== undefined) expect(tidy(output()), place).toMatch(patternOf(prints));
      else expect(output(), place).not.toContain('"error":');
      printed.key = /\bsvc_test_[0-9a-zA-Z]+_[0-9a-zA-Z]+/.exec(output())?.[0] ?? printed.key;
      printed.secret = /\bwhsec_[\w-]+/.exec(output())?.[0] ?? printed.secret;
    }
    for (const { output, snippet } of servers)
      await expect.poll(() => tidy(output()), slow).toMatch(patternOf(snippet.prints ?? '…'));
  } finally {
    // With what the shell has started.
    for (const { child } of servers) process.kill(-child.pid!);
  }
}

function start(script: string, cwd: string, env: Record<string, string>) {
  const child = spawn('bash', ['--norc', '-c', script], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (output += chunk));
  const ended = new Promise<number | null>(resolve => child.once('close', resolve));
  return { child, ended, output: () => output };
}

const isListening = (port: number) =>
  new Promise<boolean>(resolve => {
    const socket = connect(port, '127.0.0.1', () => resolve(true));
    socket.once('error', () => resolve(false)).once('connect', () => socket.destroy());
  });

export const withSnippets = guides.filter(({ steps }) => steps.length > 0);

/** A running service, and a project of a partner with the library in it. */
export async function startGuideWorld() {
  const { pool, url } = await createDatabase();
  const env = { ...processEnv, DATABASE_URL: url, DATA_DIR: newFolder(), SECRET_KEY: secretKey };
  const service = startService(env);
  afterAll(async () => void (await (await service).stop()));

  // Unpacked only: that it can be installed is tested elsewhere.
  const project = newFolder();
  const library = join(project, 'node_modules/kopeck-client');
  mkdirSync(library, { recursive: true });
  run('tar', ['xzf', pack(), '--strip-components=1', '-C', library], project);
  writeFileSync(join(project, 'package.json'), '{ "type": "module" }');
  for (const name of ['@types', 'express', 'fastify', 'hono'])
    symlinkSync(join(root, 'node_modules', name), join(project, 'node_modules', name));

  const { address } = await service;
  // It asks its sources for the first rate.
  await setRate(pool);

  /** Each reader is a partner of its own. */
  async function read(
    guide: Guide,
    language: Language,
    prepared: Awaited<ReturnType<typeof prepare>>,
    expect: ExpectStatic,
  ) {
    // Enough for the largest payment.
    const customer = await createPartnerWithKeys(pool, 5_000_000_000n);
    await runGuide(guide, language, prepared, { address, env, expect, ...customer });
  }

  return { project, read };
}
