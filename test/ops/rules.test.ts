import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { listMetrics, listSeriesNames } from '../helpers/all-metrics.ts';
import { newFolder } from '../helpers/folders.ts';
import { isPrometheusInstalled } from '../helpers/prometheus.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

const rules = Array.from(
  read('ops/prometheus/rules.yaml').matchAll(/- alert: (\w+)\n((?: {8}.*\n)+)/g),
  ([, name, text]) => ({ name: name!, text: text!, expr: /expr: (['"]?)(.*)\1$/m.exec(text!)![2]! }),
);

const dashboards = readdirSync(join(root, 'ops/grafana')).map(name => ({
  name,
  dashboard: JSON.parse(read(`ops/grafana/${name}`)),
}));

const series = new Set([...listSeriesNames(), 'up']);
const labels = new Set([
  ...listMetrics().flatMap(metric => metric.labels),
  ...['le', 'job', 'instance', '__rate_interval'],
]);

/** Words of an expression that are neither functions nor in quotes: metrics and labels. */
const wordsOf = (expr: string) =>
  Array.from(
    expr.replaceAll(/"[^"]*"|\[[^\]]*\]/g, '').matchAll(/[a-z_]\w*(?!\w*\s*\()/gi),
    ([word]) => word,
  ).filter(word => !['sum', 'max', 'by', 'and', 'or', 'unless', 'ignoring', 'for'].includes(word));

const unknownIn = (expr: string) => wordsOf(expr).filter(word => !series.has(word) && !labels.has(word));

describe('ops/prometheus/rules.yaml', () => {
  test('is found by this test', () => {
    expect(rules.length).toBeGreaterThan(10);
    expect(unknownIn('rate(kopeck_payment_total{mode="live"}[5m]) > 1')).toEqual(['kopeck_payment_total']);
    expect(unknownIn('sum by (le) (kopeck_batch_size)')).toEqual(['kopeck_batch_size']);
  });

  test.each(rules)('$name uses metrics that exist, and has severity, summary and runbook', rule => {
    expect(unknownIn(rule.expr)).toEqual([]);
    expect(rule.text).toMatch(/severity: (critical|warning|info)\n/);
    expect(rule.text).toMatch(/summary: .{20,}/);
    expect(rule.text).toContain(`runbook: docs/runbooks/${rule.name}.md`);
    const headings = read(`docs/runbooks/${rule.name}.md`).match(/^#+ .*$/gm);
    expect(headings).toEqual([
      `# ${rule.name}`,
      '## What it means',
      '## How bad it is',
      '## How to check',
      '## What to do',
      '## It is over when',
    ]);
  });

  test('every runbook belongs to a rule, and the index lists it', () => {
    const pages = readdirSync(join(root, 'docs/runbooks')).filter(name => name !== 'README.md');
    expect(pages.sort()).toEqual(rules.map(({ name }) => `${name}.md`).sort());
    const listed = Array.from(
      read('docs/runbooks/README.md').matchAll(/^\| \[(\w+)\]/gm),
      ([, name]) => name,
    );
    expect(listed).toEqual(rules.map(({ name }) => name));
  });

  test('each alert is made to fire by a fault in test/alerts, or on Citus', () => {
    const files = ['alerts/alerts', 'alerts/alerts.long', 'citus/history-reads'];
    const tests = files.map(file => read(`test/${file}.test.ts`)).join('');
    for (const { name } of rules) expect(tests, name).toMatch(new RegExp(`'${name}'`));
  });

  test('runbooks name only metrics that exist', () => {
    for (const { name } of rules) {
      const named = read(`docs/runbooks/${name}.md`).match(/\b(kopeck|http)_\w+/g) ?? [];
      expect(
        named.filter(metric => !series.has(metric) && !listMetrics().some(known => known.name === metric)),
        name,
      ).toEqual([]);
    }
  });

  test.runIf(isPrometheusInstalled)('promtool accepts the rules, and its tests of them pass', () => {
    const run = (...args: string[]) => spawnSync('promtool', args, { cwd: root, encoding: 'utf8' });
    for (const args of [
      ['check', 'rules', 'ops/prometheus/rules.yaml'],
      ['test', 'rules', 'ops/prometheus/rules.test.yaml'],
    ]) {
      const { status, stdout, stderr } = run(...args);
      expect(status, stdout + stderr).toBe(0);
      expect(stdout).toContain('SUCCESS');
    }
  });
});

describe.each(dashboards)('ops/grafana/$name', ({ dashboard }) => {
  const { panels } = dashboard;

  test('has a variable for the data source, and every panel uses it', () => {
    expect(dashboard.templating.list).toContainEqual(
      expect.objectContaining({ name: 'datasource', type: 'datasource', query: 'prometheus' }),
    );
    for (const { title, datasource } of panels) expect(datasource.uid, title).toMatch(/^\$\{datasource\}$/);
  });

  test('uses metrics that exist, in panels of their own place', () => {
    expect(panels.length).toBeGreaterThan(5);
    for (const { title, targets } of panels)
      for (const { expr } of targets) expect(unknownIn(expr), title).toEqual([]);
    const places = panels.map(({ gridPos: { x, y } }: { gridPos: { x: number; y: number } }) => `${x} ${y}`);
    expect(new Set(places).size).toBe(panels.length);
  });

  test.runIf(isPrometheusInstalled)('has expressions that Prometheus can read', () => {
    const exprs: string[] = panels.flatMap((panel: { targets: { expr: string }[] }) =>
      panel.targets.map(({ expr }) => expr.replaceAll('$__rate_interval', '5m')),
    );
    const groups = exprs.map((expr, nth) => ({ record: `panel:${nth}`, expr }));
    const file = join(newFolder(), 'panels.json');
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'panels', rules: groups }] }));
    const { status, stderr } = spawnSync('promtool', ['check', 'rules', file], { encoding: 'utf8' });
    expect(status, stderr).toBe(0);
  });
});
