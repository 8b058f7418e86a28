import { fork } from 'node:child_process';
import { join } from 'node:path';
import type { Finding } from '../../src/ledger/verify.ts';
import type { RunOptions, RunResult } from './run.ts';

/** From the parent: run this seed, or end. */
export interface Order {
  seed: number | null;
}

/** To the parent: a run has ended, or the ledger was verified; with neither, the process is ready. */
export interface Finished {
  result?: RunResult;
  findings?: Finding[];
}

interface Work {
  /** Undefined: there is nothing left to do. */
  nextSeed(): number | undefined;
  onResult(result: RunResult): void;
  onFindings(findings: Finding[]): void;
}

const program = join(import.meta.dirname, 'seeds.process.ts');

/** A process that runs one seed after another; resolves when it has ended. */
export function startWorker(
  { maxPayments, keepsHistory }: Pick<RunOptions, 'maxPayments' | 'keepsHistory'>,
  { nextSeed, onResult, onFindings }: Work,
): Promise<void> {
  const worker = fork(program, [`${maxPayments}`, `${keepsHistory}`], {
    serialization: 'advanced',
  });
  let isEnding = false;
  worker.on('message', ({ result, findings }: Finished) => {
    if (result) onResult(result);
    if (findings) onFindings(findings);
    if (isEnding) return;
    const order: Order = { seed: nextSeed() ?? null };
    isEnding = order.seed === null;
    worker.send(order);
  });
  return new Promise((resolve, reject) => {
    worker.once('error', reject);
    worker.once('exit', (code, signal) => {
      if (code === 0 && isEnding) resolve();
      else reject(new Error(`a process of the simulation ended with ${signal ?? code}`));
    });
  });
}
