import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../sdk/packed.ts';

/** In the order of the tabs. */
export const languages = ['sh', 'ts', 'python', 'php', 'go'] as const;
export type Language = (typeof languages)[number];

export interface Snippet {
  language: Language;
  code: string;
  line: number;
  /** The name of the file, if its first line gives it: other snippets use it. */
  fileName: string | undefined;
  /** What the guide says that it prints. */
  prints: string | undefined;
}

/** The same in one or more languages: code blocks that follow each other directly, which a page shows as tabs. */
export type Step = Snippet[];

export interface Guide {
  name: string;
  path: string;
  text: string;
  steps: Step[];
}

const folder = join(root, 'docs/guides');

function readGuide(name: string, path: string): Guide {
  const text = readFileSync(path, 'utf8');
  return { name, path, text, steps: stepsOf(text) };
}

/** Those in English; their translations have the same snippets. */
export const guides: Guide[] = readdirSync(folder)
  .filter(name => name.endsWith('.md'))
  .map(name => readGuide(name.replace('.md', ''), join(folder, name)));

/** What the README of the library leaves to its reader, by name; a snippet gets what it uses and does not declare itself. */
const readerCode: Record<string, string> = {
  Kopeck: `import { Kopeck } from 'kopeck-client';`,
  kopeck: `import { Kopeck as Client } from 'kopeck-client';
const kopeck = new Client({ apiKey: process.env.KOPECK_KEY!, baseUrl: process.env.KOPECK_URL! });`,
  apiKey: `const apiKey = process.env.KOPECK_KEY!;`,
  baseUrl: `const baseUrl = process.env.KOPECK_URL!;`,
  db: `const db = { readKey: async (_id: string): Promise<string | undefined> => undefined, writeKey: async (_id: string, _key: string) => {} };`,
  secret: `const secret = 'whsec_yours';`,
  onEvent: `const onEvent = (event: import('kopeck-client').PaymentEvent) => console.log(event.id);`,
  rawBody: `const rawBody = '{"id":"evt_1"}';`,
  headers: `import { createHmac } from 'node:crypto';
const t = Math.floor(Date.now() / 1000);
const headers = { 'x-service-signature': \`t=\${t},v1=\${createHmac('sha256', secret).update(\`\${t}.\${rawBody}\`).digest('hex')}\` };`,
  storedBody: `const storedBody = '{"id":"evt_1"}';`,
  keySet: `import { generateKeyPairSync, sign } from 'node:crypto';
const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const keySet = { keys: [publicKey.export({ format: 'jwk' }) as { crv: string; x: string }] };`,
  storedHeaders: `const signature = sign(null, Buffer.from(\`evt_1.1.\${storedBody}\`), privateKey).toString('base64');
const storedHeaders = { 'webhook-id': 'evt_1', 'webhook-timestamp': '1', 'webhook-signature': \`v1a,\${signature}\` };`,
  readPosition: `const readPosition = async (): Promise<string | undefined> => undefined;`,
  writePosition: `const writePosition = async (_position: string) => {};`,
  // A reader that follows has no end of its own.
  handle: `const handle = async (event: import('kopeck-client').PaymentEvent) => process.exit(event.id ? 0 : 1);`,
};

function withReaderCode(code: string): string {
  const isDeclared = (name: string) =>
    new RegExp(`(const|let|function) ${name}\\b|import (type )?\\{[^}]*\\b${name}\\b`).test(code);
  const needed = Object.keys(readerCode).filter(
    name => new RegExp(`(?<![\\w.'/-])${name}\\b(?![-'/:])`).test(code) && !isDeclared(name),
  );
  return [...needed.map(name => readerCode[name]), code].join('\n');
}

const readme = readGuide('library', join(root, 'sdk/README.md'));
/** The guides are whole; a README may leave something to its reader. */
export const libraryReadme: Guide = {
  ...readme,
  steps: readme.steps.map(step =>
    step.map(snippet =>
      snippet.language === 'ts' ? { ...snippet, code: withReaderCode(snippet.code) } : snippet,
    ),
  ),
};

/** The snippet that the reader of a language takes. What `curl` cannot do, such as receiving, is done with TypeScript. */
export const choose = (step: Step, language: Language) =>
  step.length === 1 && step[0]!.language === 'sh'
    ? step[0]
    : (step.find(snippet => snippet.language === language) ??
      (language === 'sh' && step.length > 1 ? step.find(snippet => snippet.language === 'ts') : undefined));

export function stepsOf(text: string): Step[] {
  const steps: Step[] = [];
  // Where the last code block ended; undefined after what a snippet prints.
  let openAt: number | undefined;
  for (const { 0: whole, 1: indent = '', 2: language = '', 3: body = '', index } of text.matchAll(
    /^( *)```(\w*)\n([\s\S]*?)^ *```$/gm,
  )) {
    const code = body.replaceAll(new RegExp(`^${indent}`, 'gm'), '');
    const line = text.slice(0, index).split('\n').length;
    const last = steps.at(-1);
    if (language === 'text') {
      const silent = last?.filter(({ prints }) => prints === undefined) ?? [];
      if (silent.length === 0) throw new Error(`line ${line}: nothing prints this`);
      for (const snippet of silent) snippet.prints = code;
      openAt = undefined;
      continue;
    }
    const snippet = snippetOf(language as Language, code, line);
    const isTab =
      openAt !== undefined &&
      text.slice(openAt, index).trim() === '' &&
      !last!.some(other => other.language === language);
    if (isTab) last!.push(snippet);
    else steps.push([snippet]);
    openAt = index + whole.length;
  }
  return steps;
}

/** `curl` prints JSON where a program prints what it needs, so the output of a shell snippet is a comment at its end. */
function snippetOf(language: Language, code: string, line: number): Snippet {
  const [, comment] = (language === 'sh' && /\n((?:# .*\n)+)$/.exec(code)) || [];
  return {
    language,
    code,
    line,
    fileName: /^(?:<\?php )?(?:#|\/\/) (\w+\.\w+)\n/.exec(code)?.[1],
    prints: comment?.replaceAll(/^# /gm, ''),
  };
}

/** Like the text, in which `…` stands for anything. */
export function patternOf(prints: string): RegExp {
  const escaped = tidy(prints).replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  return new RegExp(`^${escaped.replaceAll('…', '[^]*?')}$`);
}

export const tidy = (output: string) => output.replaceAll(/ +$/gm, '').trim();
