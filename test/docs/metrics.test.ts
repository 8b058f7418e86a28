import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { listMetrics } from '../helpers/all-metrics.ts';

const ofNode = /^(process|nodejs)_/;

test('docs/reference/metrics.md lists every metric with its kind and labels, and no other', () => {
  const page = readFileSync(new URL('../../docs/reference/metrics.md', import.meta.url), 'utf8');
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
