import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { sign } from '../../src/webhooks/delivery/signatures.ts';
import { freePort } from '../helpers/free-port.ts';
import { root } from '../sdk/packed.ts';
import { choose, type Guide, guides, type Language, type Snippet } from './snippets.ts';

/** The snippets of a guide in one language, as files. */
export interface Prepared {
  folder: string;
  /** Where its endpoint listens. */
  port: number;
  /** The compiled programs. */
  programs: string;
}

type ProgramLanguage = Exclude<Language, 'sh'>;
const extensions: Record<ProgramLanguage, string> = { ts: 'ts', python: 'py', php: 'php', go: 'go' };

/** An endpoint for webhooks. */
export const isReceiver = ({ language, code }: Snippet) =>
  language !== 'sh' && code.includes('KOPECK_WEBHOOK_SECRET');
export const isVerifier = ({ fileName }: Snippet) => fileName?.startsWith('verify.') ?? false;
/** What other snippets use: a reader has it in every folder. */
const isShared = ({ fileName }: Snippet) => /^(kopeck|verify)\./.test(fileName ?? '');

const nameOf = ({ fileName, line, language }: Snippet) =>
  fileName ?? `line-${line}.${extensions[language as ProgramLanguage]}`;
const programOf = ({ name }: Guide, { line }: Snippet) => `${name}-${line}`;

const sharedFiles = (language: Language) =>
  guides
    .flatMap(({ steps }) => steps.flat())
    .filter(snippet => snippet.language === language && isShared(snippet));

/** Undefined for a file that is only used by others. */
export function commandOf(guide: Guide, snippet: Snippet, { port, programs }: Prepared): string | undefined {
  if (isShared(snippet) && !isVerifier(snippet)) return undefined;
  const language = snippet.language as ProgramLanguage;
  const file = isVerifier(snippet) ? verifierDrivers[language].fileName : nameOf(snippet);
  const commands: Record<ProgramLanguage, string> = {
    ts: `exec node ${file}`,
    python: `exec python3 ${file}`,
    php: isReceiver(snippet) ? `exec php -S 127.0.0.1:${port} ${file}` : `exec php ${file}`,
    go: `exec ${join(programs, programOf(guide, snippet))}`,
  };
  return commands[language];
}

/** Every snippet of a guide that is a program; those that a reader would type into a terminal are not. */
export async function prepare(guide: Guide, language: Language, project: string): Promise<Prepared> {
  const folder = join(project, language, guide.name);
  mkdirSync(folder, { recursive: true });
  const port = await freePort();
  for (const snippet of guide.steps.flatMap(step => choose(step, language) ?? [])) {
    if (snippet.language === 'sh') continue;
    const code = isReceiver(snippet) ? snippet.code.replace('3000', `${port}`) : snippet.code;
    const driver = isVerifier(snippet) ? [verifierDrivers[snippet.language]] : [];
    const files = [
      ...sharedFiles(snippet.language).map(shared => ({ fileName: nameOf(shared), code: shared.code })),
      ...(isShared(snippet) ? [] : [{ fileName: nameOf(snippet), code }]),
      ...driver,
    ];
    // A program of Go is a folder, and all folders are compiled together.
    const place = language === 'go' ? join(project, 'go', 'source', programOf(guide, snippet)) : folder;
    if (language === 'go' && isShared(snippet) && driver.length === 0) continue;
    mkdirSync(place, { recursive: true });
    for (const file of files) writeFileSync(join(place, file.fileName), file.code);
  }
  return { folder, port, programs: join(project, 'go', 'programs') };
}

/** One call for all, since each would link the standard library's packages again. The cache stays for the next run. */
export async function compileGo(project: string): Promise<void> {
  const cwd = join(project, 'go', 'source');
  writeFileSync(join(cwd, 'go.mod'), 'module snippets\n\ngo 1.19\n');
  const env = {
    ...process.env,
    GOCACHE: join(root, 'node_modules/.cache/go-build'),
    GOPATH: join(project, 'go', 'path'),
    GOTOOLCHAIN: 'local',
  };
  const go = promisify(execFile);
  const { stdout: unformatted } = await go('gofmt', ['-l', '.'], { cwd, env });
  if (unformatted !== '') throw new Error(`not as gofmt writes it: ${unformatted}`);
  await go('go', ['build', '-o', '../programs/', './...'], { cwd, env });
}

const probes: Record<Language, [program: string, ...args: string[]]> = {
  sh: ['curl', '--version'],
  ts: [process.execPath, '--version'],
  python: ['python3', '--version'],
  php: ['php', '-r', 'exit(extension_loaded("curl") ? 0 : 1);'],
  go: ['go', 'version'],
};

/** With a clear notice for a language that is not installed. */
export function canRun(language: Language, what = 'SNIPPETS'): boolean {
  const [program, ...args] = probes[language];
  const isThere = spawnSync(program, args).status === 0;
  const line = '!'.repeat(78);
  if (!isThere)
    console.warn(
      `${line}\n!!  ${what} IN ${language.toUpperCase()} ARE NOT RUN: it is not installed.\n!!  Run .ci/run as root, which installs it.\n${line}`,
    );
  return isThere;
}

/** Webhooks that a verifier has to tell apart. */
export function webhookCases() {
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

/** A program for each `verify`, which prints its verdicts on the cases. */
const verifierDrivers = {
  ts: {
    fileName: 'verify-driver.mjs',
    code: `import { verify } from './verify.ts';
const results = JSON.parse(process.env.CASES).map(({ body, header }) => {
  try { return verify(Buffer.from(body), header, 'whsec').id === 'evt_1'; } catch { return false; }
});
console.log(JSON.stringify(results));
`,
  },
  python: {
    fileName: 'verify_driver.py',
    code: `import json, os
from verify import verify
def check(case):
    try:
        return verify(case["body"].encode(), case["header"], "whsec")["id"] == "evt_1"
    except ValueError:
        return False
print(json.dumps([check(case) for case in json.loads(os.environ["CASES"])]))
`,
  },
  php: {
    fileName: 'verify-driver.php',
    code: `<?php
require 'verify.php';
echo json_encode(array_map(function ($case) {
    try {
        return verify($case['body'], $case['header'], 'whsec')['id'] === 'evt_1';
    } catch (UnexpectedValueException) {
        return false;
    }
}, json_decode(getenv('CASES'), true)));
`,
  },
  go: {
    fileName: 'main.go',
    code: `package main

import (
	"encoding/json"
	"os"
)

func main() {
	var cases []struct{ Body, Header string }
	if err := json.Unmarshal([]byte(os.Getenv("CASES")), &cases); err != nil {
		panic(err)
	}
	results := []bool{}
	for _, one := range cases {
		event, err := verify([]byte(one.Body), one.Header, "whsec")
		results = append(results, err == nil && event.ID == "evt_1")
	}
	json.NewEncoder(os.Stdout).Encode(results)
}
`,
  },
};
