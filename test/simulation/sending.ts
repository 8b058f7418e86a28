import type { PaymentSignals } from '../../src/payments/index.ts';
import { leaseLoopsMs } from '../../src/webhooks/delivery/lease-keeper.ts';
import { type DeliveryDeps, readLoopMs, startDelivery } from '../../src/webhooks/delivery/worker.ts';
import type { Webhooks } from './webhooks.ts';
import type { World } from './world.ts';

/** The pauses of the real delivery in which it polls. */
export const sendingEveryMs = [...Object.values(leaseLoopsMs), ...Object.values(readLoopMs)];

/** The delivery of a process, woken by the end of a payment as in the service. */
export function startSending(
  { points }: World,
  { vault, receivers, pausesSec }: Webhooks,
  processName: string,
  deps: Omit<DeliveryDeps, 'vault' | 'sender' | 'webhookRetryScheduleSec'> & { signals: PaymentSignals },
): void {
  const sender = receivers.portOf(processName);
  const { send } = sender;
  if (points)
    sender.send = async sending => {
      const sent = send(sending);
      await points.at(processName, `during send to ${/\w+\/\d+/.exec(sending.url)}`)?.();
      return sent;
    };
  const delivery = startDelivery({ ...deps, vault, sender, webhookRetryScheduleSec: pausesSec });
  deps.signals.paymentFinished.subscribe(delivery.runNow);
}
