/**
 * `npm run failover [-- --only NAME] [--seed N] [--json]`: loses databases under load, each time with two nodes, and compares
 * the answers to partners, the books and the bank side. Exits with 1 when anything is wrong.
 */
import { randomInt } from 'node:crypto';
import { addRound, describeReport, newReport } from '../faults/report.ts';
import type { Round } from '../faults/round.ts';
import type { RoundOptions } from '../faults/run.ts';
import { readOptions, refuseCall } from '../helpers/program-options.ts';
import { createCopiedServer, startCopy } from './copy.ts';
import { createPatroniCluster } from './patroni-cluster.ts';
import { missingPrograms } from './patroni-programs.ts';
import { freezePrimary, loseOfCluster } from './patroni-scenarios.ts';
import { createReplicatedServers } from './replicated-servers.ts';
import { runScenario } from './run-scenario.ts';
import { killRecovering, promoteLagging, readOnlyServer, splitBrain } from './scenarios.ts';

type Run = (options: RoundOptions & { seed: number }) => Promise<Round>;

const lost = { historyIsLost: true };

const runs: Record<string, Run> = {
  'read-only': options => runScenario(createReplicatedServers, readOnlyServer, options),
  'lost-commits': options => runScenario(createReplicatedServers, promoteLagging, { ...lost, ...options }),
  'split-brain': options => runScenario(createReplicatedServers, splitBrain, { ...lost, ...options }),
  'killed-recovery': options => runScenario(createReplicatedServers, killRecovering, { ...lost, ...options }),
  copy: options => runScenario(createCopiedServer, startCopy, { ...lost, ...options }),
};
if (missingPrograms.length === 0) {
  runs['patroni-server'] = options => runScenario(createPatroniCluster, loseOfCluster('server'), options);
  runs['patroni-machine'] = options => runScenario(createPatroniCluster, loseOfCluster('machine'), options);
  runs['patroni-frozen'] = options => runScenario(createPatroniCluster, freezePrimary, options);
} else console.error(`SKIPPED: fail-over with Patroni, since ${missingPrograms.join(', ')} cannot be found.`);

const usage = `npm run failover [-- --only ${Object.keys(runs).join('|')}] [--seed 1] [--json]`;
const { values } = readOptions(usage, {
  options: { only: { type: 'string' }, seed: { type: 'string' }, json: { type: 'boolean' } },
});
const seed = Number(values.seed ?? randomInt(2 ** 31));
const names = Object.keys(runs).filter(name => !values.only || name === values.only);
if (names.length === 0 || !Number.isSafeInteger(seed)) refuseCall(usage);

let current: { name: string; round?: Round } = { name: 'setting up' };
const startedMs = Date.now();
const progress = setInterval(() => {
  const { name, round } = current;
  const seconds = Math.round((Date.now() - startedMs) / 1_000);
  const counts = `${round?.calls.length ?? 0} calls; ${round?.findings.length ?? 0} findings`;
  process.stderr.write(`${seconds} s; ${name}: ${counts}\n`);
}, 5_000);

let isRight = true;
for (const name of names) {
  current = { name };
  const report = newReport(seed, 0);
  const onRound = (round: Round) => {
    current = { name, round };
  };
  const round = await runs[name]!({ seed, onRound });
  addRound(report, name, round);
  isRight &&= report.findings.length === 0;
  console.log(values.json ? JSON.stringify(report) : `${describeReport(report)}\n`);
}
clearInterval(progress);
process.exitCode = isRight ? 0 : 1;
