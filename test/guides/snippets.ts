import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../sdk/packed.ts';
import { withReaderCode } from './reader-code.ts';

export interface Snippet {
  language: string;
  code: string;
  line: number;
  /** What the guide says that it prints: the `text` that follows it. */
  prints: string | undefined;
}

export interface Guide {
  name: string;
  path: string;
  text: string;
  snippets: Snippet[];
}

const folder = join(root, 'docs/guides');

function readGuide(name: string, path: string): Guide {
  const text = readFileSync(path, 'utf8');
  return { name, path, text, snippets: snippetsOf(text) };
}

export const guides: Guide[] = readdirSync(folder).map(name =>
  readGuide(name.replace('.md', ''), join(folder, name)),
);

const readme = readGuide('library', join(root, 'sdk/README.md'));
/** The guides are whole; a README may leave something to its reader. */
export const libraryReadme: Guide = {
  ...readme,
  snippets: readme.snippets.map(snippet =>
    snippet.language === 'ts' ? { ...snippet, code: withReaderCode(snippet.code) } : snippet,
  ),
};

function snippetsOf(text: string): Snippet[] {
  const snippets: Snippet[] = [];
  for (const { 1: indent = '', 2: language = '', 3: body = '', index } of text.matchAll(
    /^( *)```(\w*)\n([\s\S]*?)^ *```$/gm,
  )) {
    const code = body.replaceAll(new RegExp(`^${indent}`, 'gm'), '');
    const line = text.slice(0, index).split('\n').length;
    if (language !== 'text') {
      snippets.push({ language, code, line, prints: undefined });
      continue;
    }
    const before = snippets.at(-1);
    if (!before || before.prints !== undefined) throw new Error(`line ${line}: nothing prints this`);
    before.prints = code;
  }
  return snippets;
}

/** Like the text, in which `…` stands for anything. */
export function patternOf(prints: string): RegExp {
  const escaped = tidy(prints).replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  return new RegExp(`^${escaped.replaceAll('…', '[^]*?')}$`);
}

export const tidy = (output: string) => output.replaceAll(/ +$/gm, '').trim();
