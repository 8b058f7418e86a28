import { OperatorError } from '../base/operator-error.ts';

const exitCodes = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };

/** Acts on the first signal that ends the command, until what it returns is called. */
function onSignals(act: (exitCode: number) => void): () => void {
  const listeners = Object.entries(exitCodes).map(([signal, exitCode]) => {
    const listener = () => act(exitCode);
    process.once(signal, listener);
    return [signal, listener] as const;
  });
  return () => {
    for (const [signal, listener] of listeners) process.off(signal, listener);
  };
}

/** An interrupted command must not leave the embedded PostgreSQL running without a user. */
export const closeOnSignals = ({ close }: { close(): Promise<void> }) =>
  onSignals(exitCode => void close().finally(() => process.exit(exitCode)));

/** An interrupted command stops the server that it started and removes what it wrote. */
export const abortOnSignals = (controller: AbortController) =>
  onSignals(() => controller.abort(new OperatorError('Interrupted: partial files are removed.')));
