import { measureDeliveries } from '../webhooks.ts';
import type { Context } from './context.ts';
import { type Figure, rate } from './figures.ts';

/** Waiting events to a local receiver, compared with bare POSTs of the same bytes. */
export async function deliveriesSection({ progress }: Context): Promise<Figure[]> {
  const { perSecond, barePerSecond } = await measureDeliveries(progress);
  const ratio = perSecond / barePerSecond;
  return [
    {
      what: 'deliveries of waiting events',
      measured: rate(perSecond),
      against: `${ratio.toFixed(2)} × bare undici POSTs, ${rate(barePerSecond)}`,
      bar: { name: 'deliveries ÷ bare POSTs', value: ratio, limit: 0.5, rule: '≥' },
      values: { perSecond, barePerSecond, ratio },
    },
  ];
}
