import { useState } from 'react';
import { Link } from 'wouter';
import type { Overview as Shape } from '../../../../src/portal/shapes.ts';
import { State } from '../../parts/badge.tsx';
import { Chart } from '../../parts/chart.tsx';
import { Choice } from '../../parts/fields.tsx';
import { Card, Loaded, PageFrame, useLive } from '../../parts/page.tsx';
import { Count, Percent, Rate, Rub, Usdt } from '../../parts/values.tsx';
import { useMode, usePartner } from '../partner.ts';
import { Tile } from '../parts.tsx';
import { inBoth, useTexts } from '../texts/index.ts';
import { FirstSteps } from './first-steps.tsx';

const texts = inBoth({
  period: ['Period', 'Период'],
  days: (count: number) => [`${count} days`, `${count} дней`],
  summary: ['Summary', 'Сводка'],
  available: ['Available', 'Доступно'],
  turnover: ['Turnover', 'Оборот'],
  rate: ['Rate, RUB for 1 USDT', 'Курс, ₽ за 1 USDT'],
  balance: ['Balance at the end of the day', 'Баланс на конец дня'],
  counting: ['Older days are still being counted.', 'Более ранние дни ещё подсчитываются.'],
  toWebhook: ['Open the webhook', 'Открыть вебхук'],
  webhook: {
    failing: ['Your endpoint does not accept our events.', 'Ваш сервер не принимает наши события.'],
    suspended: [
      'Webhooks are suspended: three events in a row were not delivered.',
      'Отправка вебхуков приостановлена: три события подряд не доставлены.',
    ],
  },
});

const periods = ['7', '30', '90'] as const;

export default function Overview() {
  const t = useTexts(texts);
  const mode = useMode();
  const { api, may } = usePartner();
  const [days, setDays] = useState<(typeof periods)[number]>('30');
  const path = api(`/overview?mode=${mode}&days=${days}`);
  const read = useLive<Shape>(path, 15_000);
  const { data } = read;
  return (
    <PageFrame
      title={t.nav.overview}
      actions={
        <Choice
          label={t.period}
          value={days}
          options={periods.map(count => [count, t.days(Number(count))])}
          onChange={setDays}
        />
      }
    >
      <Loaded of={read} />
      {data?.is_maintenance && <div className="banner">{t.maintenance}</div>}
      {data && !['active', 'none'].includes(data.webhook_state) && may('integrate') && (
        <div className="banner">
          {t.webhook[data.webhook_state as 'failing' | 'suspended']}{' '}
          <Link href="/webhook">{t.toWebhook}</Link>
        </div>
      )}
      {data && <FirstSteps steps={data.first_steps} />}
      {data && <Tiles overview={data} />}
      {data && <Charts overview={data} />}
    </PageFrame>
  );
}

function Tiles({ overview }: { overview: Shape }) {
  const t = useTexts(texts);
  const { balance, rate } = overview;
  return (
    <section className="tiles" aria-label={t.summary}>
      <Tile name={t.available} value={<Usdt amount={balance.available_usdt} cents />}>
        <p className="dim">
          {t.held} <Usdt amount={balance.held_usdt} cents />
        </p>
      </Tile>
      <Tile name={t.turnover} value={<Rub amount={overview.turnover_rub} />}>
        <p className="dim">
          <Usdt amount={overview.spent_usdt} cents />
        </p>
      </Tile>
      <Tile name={t.payments} value={<Count value={overview.created} />}>
        <p className="dim">
          {t.failed} <Count value={overview.failed} />
        </p>
      </Tile>
      <Tile name={t.success} value={<Percent share={overview.success_share} />} />
      <Tile name={t.rate} value={<Rate rate={rate?.rate} />}>
        {rate && <State state={rate.is_stale ? 'stale' : 'fresh'} />}
      </Tile>
    </section>
  );
}

type Day = NonNullable<Shape['days'][number]>;

function Charts({ overview }: { overview: Shape }) {
  const t = useTexts(texts);
  const days = overview.days.filter(day => day !== null);
  const at = days.map(({ day }) => `${day}T00:00:00Z`);
  const share = days.map(({ succeeded, failed }) =>
    succeeded + failed === 0 ? null : (succeeded / (succeeded + failed)) * 100,
  );
  const ofDays = (label: string, colour: string, value: (day: Day) => number, fill = false) => ({
    label,
    values: days.map(value),
    colour,
    fill,
  });
  const charts = [
    {
      title: t.payments,
      series: [
        ofDays(t.succeeded, '--chart-2', day => day.succeeded, true),
        ofDays(t.failed, '--chart-3', day => day.failed),
      ],
    },
    { title: t.success, digits: 1, series: [{ label: '%', values: share, colour: '--chart-4' }] },
    { title: t.turnover, series: [ofDays('₽', '--chart-1', day => Number(day.turnover_rub), true)] },
    { title: t.balance, series: [ofDays('USDT', '--chart-1', day => Number(day.available_usdt))] },
  ];
  return (
    <>
      {!overview.is_complete && <p className="dim">{t.counting}</p>}
      <div className="charts">
        {charts.map(chart => (
          <Card key={chart.title} title={chart.title}>
            <Chart at={at} {...chart} />
          </Card>
        ))}
      </div>
    </>
  );
}
