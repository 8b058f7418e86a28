import { createHttpGateway, type Gateway } from '../gateway/index.ts';
import type { startSimulator } from '../runtime/index.ts';
import { type CommandContext, requireDataDir } from './command.ts';

/** Loaded only here: other commands do not need the service and start faster without it. */
const startBank: typeof startSimulator = async (...args) =>
  (await import('../runtime/index.ts')).startSimulator(...args);

/** The payment gateway of the settings, or the simulator, while the work lasts. */
export async function withGateway<Result>(
  { audit, settings, progress }: CommandContext,
  work: (gateway: Gateway) => Promise<Result>,
): Promise<Result> {
  if (!settings.gatewayUrl) requireDataDir(settings);
  const bank = settings.gatewayUrl ? undefined : await startBank(settings.dataDir, progress);
  const gateway = createHttpGateway({
    url: bank?.url ?? settings.gatewayUrl!,
    token: bank?.token ?? settings.gatewayToken,
    clock: audit.clock,
  });
  try {
    return await work(gateway);
  } finally {
    await gateway.close();
    await bank?.close();
  }
}
