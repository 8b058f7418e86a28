import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

const root = new URL('../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');

/** How many requirements of levels 1 and 2 each section of ASVS 5.0.0 has; those of level 3 come after them. */
const sections = `1.1:2 1.2:9 1.3:11 1.4:3 1.5:2 2.1:3 2.2:3 2.3:4 2.4:1 3.2:2 3.3:4 3.4:6 3.5:5 3.7:2 4.1:3 4.2:1 4.3:2
4.4:4 5.1:1 5.2:3 5.3:2 5.4:3 6.1:3 6.2:12 6.3:4 6.4:4 6.5:5 6.6:3 6.8:4 7.1:3 7.2:4 7.3:2 7.4:5 7.5:2 7.6:2 8.1:2 8.2:3 8.3:1
8.4:1 9.1:3 9.2:4 10.1:2 10.2:2 10.3:4 10.4:11 10.5:5 10.6:2 10.7:3 11.1:2 11.2:3 11.3:3 11.4:4 11.5:1 11.6:1 12.1:3 12.2:2
12.3:4 13.1:1 13.2:5 13.3:2 13.4:5 14.1:2 14.2:4 14.3:3 15.1:3 15.2:3 15.3:7 16.1:1 16.2:5 16.3:4 16.4:3 16.5:3 17.1:1 17.2:4
17.3:2`;
const numbers = sections.split(/\s+/).flatMap(section => {
  const [name, count] = section.split(':');
  return Array.from({ length: Number(count) }, (_, nth) => `${name}.${nth + 1}`);
});

describe('the table of ASVS 5.0', () => {
  const rows = [
    ...read('docs/security/asvs.md').matchAll(
      /^\| ([\d.]+)(?:–([\d.]+))? \| \S+ \| (.+) \| (.+) \| (.+) \|$/gm,
    ),
  ];

  test('has every requirement of levels 1 and 2 once, in order', () => {
    const covered = rows.flatMap(([, first, last = first]) =>
      numbers.slice(numbers.indexOf(first!), numbers.indexOf(last!) + 1),
    );
    expect(covered).toEqual(numbers);
  });

  test('says for each what shows it, or why not, and counts the states', () => {
    const counts = new Map<string, number>();
    for (const [, first, last = first, , state, where] of rows) {
      expect(state).toMatch(/^(met(, with .+)?|partly|not met here|not met|n\/a)$/);
      expect(where!.length, first).toBeGreaterThan(5);
      const key = state!.split(',')[0]!;
      const covered = numbers.indexOf(last!) - numbers.indexOf(first!) + 1;
      counts.set(key, (counts.get(key) ?? 0) + covered);
    }
    const summary = [...read('docs/security/asvs.md').matchAll(/^\| ([^|:]+?)(?::[^|]+)? \| (\d+) \|$/gm)];
    expect(Object.fromEntries(summary.map(([, state, count]) => [state, Number(count)]))).toEqual(
      Object.fromEntries(counts),
    );
  });
});
