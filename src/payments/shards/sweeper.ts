import { startBackgroundLoop } from '../../base/background-loop.ts';
import type { Clock } from '../../base/clock.ts';
import type { CodeGuard } from './code-guard.ts';

interface SweeperDeps {
  clock: Clock;
  /** Undefined with one shard: then there is nothing to sweep. */
  codeGuard: CodeGuard | undefined;
  log: { error(details: object, message: string): void };
}

const sweepEveryMs = 30_000;

/** Frees the codes that were left behind, while this process runs. Several processes may do so at the same time. */
export function startSweeper({ clock, codeGuard, log }: SweeperDeps): () => Promise<void> {
  if (!codeGuard) return async () => {};
  return startBackgroundLoop({
    clock,
    everyMs: sweepEveryMs,
    work: async () => void (await codeGuard.sweep()),
    onError: err => log.error({ err }, 'the codes of ended payments could not be freed'),
  }).stop;
}
