import { formatRate } from '../../../base/money.ts';
import { isStale, listRates, readCurrentRate } from '../../../rates/index.ts';
import type { BotDeps } from '../../deps.ts';
import { drawRateChart } from '../../images/chart.ts';
import type { Texts } from '../../texts/index.ts';
import { button, type PartnerContext, sendPicture, toast } from '../chat-context.ts';
import type { Menu } from './menu.ts';

const dayMs = 24 * 3_600_000;

/** More points than this are not distinguishable in the picture. */
const maxPoints = 400;
/** The chart changes only with the rate, so each one is drawn once in each language. */
const drawn = new Map<Texts, { rateId: bigint; chart: Buffer }>();

async function chartOf({ pool, clock }: BotDeps, rateId: bigint, texts: Texts): Promise<Buffer> {
  const last = drawn.get(texts);
  if (last?.rateId === rateId) return last.chart;
  const rates = await listRates(pool, new Date(clock.nowMs() - dayMs));
  const every = Math.ceil(rates.length / maxPoints);
  const points = rates
    .filter((_, index) => (rates.length - 1 - index) % every === 0)
    .map(({ asOf, rateE4 }) => ({ at: asOf, rateE4 }));
  const chart = await drawRateChart(points, texts.rate.chart);
  drawn.set(texts, { rateId, chart });
  return chart;
}

async function showRate(chat: PartnerContext): Promise<void> {
  const { texts, deps } = chat;
  const rate = await readCurrentRate(deps.pool);
  if (!rate) return toast(chat, texts.rate.none);
  const stale = isStale(rate, deps.clock, deps.rateMaxAgeSec);
  const caption = texts.rate.now(formatRate(rate.rateE4), rate.asOf, stale);
  const png = await chartOf(deps, rate.rateId, texts);
  await sendPicture(chat, { png, fileName: 'rate.png', caption }, [
    [button(chat, texts.refresh, 'r')],
    [button(chat, texts.menu, 'h')],
  ]);
}

export const rate: Menu = { money: { actions: { r: showRate } } };
