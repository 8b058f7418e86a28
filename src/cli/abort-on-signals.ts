import { OperatorError } from '../base/operator-error.ts';

/** An interrupted command stops the server that it started and removes what it wrote. */
export function abortOnSignals(controller: AbortController): () => void {
  const abort = () => controller.abort(new OperatorError('Interrupted: partial files are removed.'));
  const signals = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const;
  for (const signal of signals) process.once(signal, abort);
  return () => {
    for (const signal of signals) process.off(signal, abort);
  };
}
