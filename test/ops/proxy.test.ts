import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const source = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter(path => path.endsWith('.ts'))
  .map(path => readFileSync(join(root, 'src', path), 'utf8'));

/** The limit that a route gives to Fastify, by the constant of its own file or of the one that exports it. */
function bytesOf(name: string, text: string): number {
  const [object, field] = name.split('.');
  const value = field === undefined ? `\\b${object} =` : `\\b${object} = \\{[^}]*\\b${field}:`;
  const found = [text, ...source].map(each => new RegExp(`${value} (\\d[\\d* ]*\\d)`).exec(each)?.[1]);
  const product = found.find(Boolean);
  if (!product) throw new Error(`${name} is no constant of src/`);
  return product.split('*').reduce((sum, factor) => sum * Number(factor), 1);
}

test('the example of a proxy passes every body that a route takes', () => {
  const limits = source.flatMap(text =>
    Array.from(text.matchAll(/\bbodyLimit(?::| =) ([\w.]+)/g), ([, name]) => bytesOf(name!, text)),
  );
  expect(limits.length).toBeGreaterThan(4);
  expect(Math.max(...limits)).toBe(2 * 1024 * 1024);
  const nginx = readFileSync(join(root, 'ops', 'nginx.conf'), 'utf8');
  const megabytes = /client_max_body_size (\d+)m;/.exec(nginx)?.[1];
  expect(Number(megabytes) * 1024 * 1024).toBeGreaterThanOrEqual(Math.max(...limits));
});
