import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from '@swc/core';
import { listTextFiles, root } from './tracked-files.ts';

/** Code that reads input from outside. */
const isChecked = /^(?:src|sdk\/src|simulator|web\/src)\/.*\.tsx?$/;

interface Node {
  type?: string;
  pattern?: string;
  flags?: string;
  callee?: { value?: string };
  key?: { value?: string };
  value?: { type?: string; value?: string };
}

/**
 * Every regular expression of the code, as it is written, with the files that have it. The `pattern` of a JSON schema is
 * one too. One that is built at run time (`new RegExp`) is listed as such: nothing can be proved about it.
 */
export function listRegularExpressions(): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const path of listTextFiles().filter(path => isChecked.test(path))) {
    const add = (expression: string) => found.set(expression, (found.get(expression) ?? new Set()).add(path));
    const source = readFileSync(join(root, path), 'utf8');
    visit(parseSync(source, { syntax: 'typescript', tsx: path.endsWith('x') }), node => {
      if (node.type === 'RegExpLiteral') add(`/${node.pattern}/${node.flags}`);
      if (node.type === 'NewExpression' && node.callee?.value === 'RegExp') add(`new RegExp in ${path}`);
      if (
        node.type === 'KeyValueProperty' &&
        node.key?.value === 'pattern' &&
        node.value?.type === 'StringLiteral'
      )
        add(`/${node.value.value}/u`);
    });
  }
  return found;
}

function visit(node: unknown, onNode: (node: Node) => void): void {
  if (node === null || typeof node !== 'object') return;
  onNode(node);
  for (const child of Object.values(node)) visit(child, onNode);
}

/** Its two parts, as `RegExp` takes them. */
export function partsOf(expression: string): [pattern: string, flags: string] {
  const end = expression.lastIndexOf('/');
  return [expression.slice(1, end), expression.slice(end + 1)];
}
