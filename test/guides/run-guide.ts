import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import type { ExpectStatic } from 'vitest';
import { sign } from '../../src/webhooks/delivery/sign.ts';
import { root } from '../sdk/packed.ts';
import { type Guide, patternOf, type Snippet, tidy } from './snippets.ts';

export interface GuideContext {
  /** A project of a partner, with the library in it. */
  project: string;
  address: string;
  partnerId: string;
  testKey: string;
  liveKey: string;
  /** What `npx kopeck` needs to find the same service. */
  env: Record<string, string>;
  /** Of the test that runs the guide; several run at the same time. */
  expect: ExpectStatic;
}

export const fileOf = ({ name }: Guide, { line, language }: Snippet) =>
  join(name, `line-${line}.${{ ts: 'ts', js: 'mjs', python: 'py' }[language]}`);

/** Every snippet of a language that is a file; those that a reader would type into a terminal are not. */
export function writeFiles(guide: Guide, { project }: Pick<GuideContext, 'project'>): void {
  mkdirSync(join(project, guide.name));
  for (const snippet of guide.snippets.filter(({ language }) => language !== 'sh')) {
    const { language, code } = snippet;
    const whole = code + (drivers[language] ?? '');
    writeFileSync(join(project, fileOf(guide, snippet)), whole);
  }
}

export const hasProgram = (name: string) => {
  const isThere = spawnSync(name, ['--version']).status === 0;
  const line = '!'.repeat(78);
  if (!isThere)
    console.warn(`${line}\n!!  SNIPPETS ARE NOT RUN: there is no ${name} on this machine.\n${line}`);
  return isThere;
};

/** `npm install` was done with the packed library; here it only has to be the right name. */
const shell = `
set -euo pipefail
. ./exported 2> /dev/null || true
npx() { [ "$1" = kopeck ]; shift; node ${root}/src/cli/main.js "$@"; }
npm() { [ "$*" = 'install kopeck-client' ]; }
`;

/** From its first snippet to its last, as a reader would; what is exported stays, and servers go on until the end. */
export async function runGuide(
  guide: Guide,
  context: GuideContext,
  skipped: readonly string[],
): Promise<void> {
  const { expect } = context;
  const cwd = join(context.project, guide.name);
  const port = await freePort();
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
  const env = {
    ...context.env,
    PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
    KOPECK_URL: context.address,
    KOPECK_KEY: context.testKey,
    CASES: JSON.stringify(cases()),
  };
  try {
    for (const snippet of guide.snippets.filter(({ language }) => !skipped.includes(language))) {
      const { language, code, prints } = snippet;
      const file = language === 'sh' ? '' : join(context.project, fileOf(guide, snippet));
      const commands: Record<string, string> = {
        sh: `${filled(code)}\nexport -p > exported`,
        ts: `exec node ${file}`,
        js: `exec node ${file}`,
        python: `exec python3 ${file}`,
      };
      const isReceiver = code.includes('.listen(3000)');
      if (isReceiver) writeFileSync(file, code.replace('3000', `${port}`));
      const { child, ended, output } = run(shell + commands[language], cwd, env);
      if (isReceiver || code.startsWith('npx kopeck listen')) {
        servers.push({ child, output, snippet });
        if (isReceiver) await expect.poll(() => isListening(port)).toBe(true);
        else await expect.poll(output).toContain('Press Ctrl-C to stop');
        continue;
      }
      const place = `${guide.path}:${snippet.line}`;
      expect(await ended, `${place}\n${output()}`).toBe(0);
      if (drivers[language]) expect(JSON.parse(output()), place).toEqual(cases().map(({ isGood }) => isGood));
      else if (prints !== undefined) expect(tidy(output()), place).toMatch(patternOf(prints));
      else expect(output(), place).not.toContain('"error":');
      printed.key = /\bsvc_test_[0-9a-zA-Z]+_[0-9a-zA-Z]+/.exec(output())?.[0] ?? printed.key;
      printed.secret = /\bwhsec_[\w-]+/.exec(output())?.[0] ?? printed.secret;
    }
    for (const { output, snippet } of servers)
      await expect.poll(() => tidy(output())).toMatch(patternOf(snippet.prints ?? '…'));
  } finally {
    // With what the shell has started.
    for (const { child } of servers) process.kill(-child.pid!);
  }
}

function run(script: string, cwd: string, env: Record<string, string>) {
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

function freePort(): Promise<number> {
  return new Promise(resolve => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

const isListening = (port: number) =>
  new Promise<boolean>(resolve => {
    const socket = connect(port, '127.0.0.1', () => resolve(true));
    socket.once('error', () => resolve(false)).once('connect', () => socket.destroy());
  });

/** Webhooks that a verifier has to tell apart. */
function cases() {
  const nowSec = Math.floor(Date.now() / 1_000);
  const body = '{"id":"evt_1","data":{"recipient":"ООО «Ромашка»"}}';
  const [good, other] = [sign(['whsec'], nowSec, body), sign(['other'], nowSec, body)];
  const both = [sign(['other', 'whsec'], nowSec, body), sign(['whsec', 'other'], nowSec, body)];
  const at = (sec: number) => sign(['whsec'], sec, body);
  const bad = [
    other,
    at(nowSec - 400),
    at(nowSec + 400),
    good.replace(/t=\d+/, `t=${nowSec + 1}`),
    '',
    't=,v1=',
  ];
  return [
    ...[good, at(nowSec - 200), at(nowSec + 200), ...both].map(header => ({ body, header, isGood: true })),
    ...bad.map(header => ({ body, header, isGood: false })),
    { body: `${body} `, header: good, isGood: false },
  ];
}

/** What is appended to a snippet that only defines `verify`. */
const drivers: Record<string, string> = {
  js: `
const results = JSON.parse(process.env.CASES).map(({ body, header }) => {
  try { return verify(Buffer.from(body), header, 'whsec').id === 'evt_1'; } catch { return false; }
});
console.log(JSON.stringify(results));
`,
  python: `
import os
def check(case):
    try:
        return verify(case["body"].encode(), case["header"], "whsec")["id"] == "evt_1"
    except ValueError:
        return False
print(json.dumps([check(case) for case in json.loads(os.environ["CASES"])]))
`,
};
