import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterFile } from './after-file.ts';
import { newFolder } from './folders.ts';
import { freePort } from './free-port.ts';

const rulesFile = join(import.meta.dirname, '../../ops/prometheus/rules.yaml');

export const isPrometheusInstalled = ['prometheus', 'promtool'].every(
  name => spawnSync(name, ['--version']).status === 0,
);

if (!isPrometheusInstalled)
  console.warn('\n!!! Prometheus is not installed: its tests are SKIPPED. Run .ci/run to install it.\n');

/** A rule waits before it fires; a test cannot wait that long. `replace` shortens thresholds that are times. */
function rulesWithoutPauses(replace: Record<string, string>): string {
  let text = readFileSync(rulesFile, 'utf8').replace(/^ +for: .*\n/gm, '');
  for (const [long, short] of Object.entries(replace)) {
    if (!text.includes(long)) throw new Error(`no rule has "${long}"`);
    text = text.replace(long, short);
  }
  return text;
}

export interface Prometheus {
  /** The names of the alerts that fire now. */
  firing(): Promise<string[]>;
}

/** A Prometheus that reads this target each second, with the rules of the repository. */
export async function startPrometheus(
  metricsPort: number,
  replace: Record<string, string> = {},
): Promise<Prometheus> {
  const dir = newFolder();
  const port = await freePort();
  writeFileSync(join(dir, 'rules.yaml'), rulesWithoutPauses(replace));
  writeFileSync(
    join(dir, 'prometheus.yml'),
    `global: { scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s }
rule_files: [rules.yaml]
scrape_configs:
  - job_name: kopeck
    static_configs: [{ targets: ['127.0.0.1:${metricsPort}'] }]
`,
  );
  const child = spawn(
    'prometheus',
    [
      `--config.file=${join(dir, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(dir, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: 'ignore' },
  );
  const ended = once(child, 'exit');
  afterFile(() => {
    child.kill('SIGKILL');
    return ended;
  });
  const get = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).json();
  while (
    !(await fetch(`http://127.0.0.1:${port}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    ))
  )
    await new Promise(resolve => setTimeout(resolve, 100));
  return {
    firing: async () => {
      const { data } = (await get('/api/v1/alerts')) as {
        data: { alerts: { state: string; labels: { alertname: string } }[] };
      };
      return data.alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels.alertname);
    },
  };
}
