import { InputFile } from 'grammy';
import { formatRate } from '../../base/money.ts';
import { isStale, listRates, readCurrentRate } from '../../rates/index.ts';
import { drawRateChart } from '../chart.ts';
import { keyboardOf } from '../screen.ts';
import { dataOf, type PartnerVisit } from '../visit.ts';
import type { Menu } from './menu.ts';

const dayMs = 24 * 3_600_000;

async function showRate(visit: PartnerVisit): Promise<void> {
  const { say, deps, api, chatId } = visit;
  const rate = await readCurrentRate(deps.pool);
  if (!rate) {
    visit.toast = say.rate.none;
    return;
  }
  const since = new Date(deps.clock.nowMs() - dayMs);
  const points = await listRates(deps.pool, since);
  const stale = isStale(rate, deps.clock, deps.rateMaxAgeSec);
  const caption = say.rate.now(formatRate(rate.rateE4), rate.asOf, stale);
  const reply_markup = keyboardOf([
    [{ text: say.refresh, data: dataOf('r', visit.partner) }],
    [{ text: say.menu, data: dataOf('h', visit.partner) }],
  ]);
  const chart = drawRateChart(
    points.map(({ asOf, rateE4 }) => ({ at: asOf, rateE4 })),
    { title: 'USDT/RUB, 24 h' },
  );
  await api.sendPhoto(chatId, new InputFile(chart, 'rate.png'), {
    caption,
    parse_mode: 'HTML',
    reply_markup,
  });
}

export const rate: Menu = { actions: { r: { role: 'viewer', run: showRate } }, steps: {} };
