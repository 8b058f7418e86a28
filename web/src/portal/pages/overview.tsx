import { useState } from 'react';
import { Link } from 'wouter';
import type { Overview as Shape } from '../../../../src/portal/shapes/overview.ts';
import { State } from '../../parts/badge.tsx';
import { Chart } from '../../parts/chart.tsx';
import { Choice } from '../../parts/fields.tsx';
import { Card, Loaded, PageFrame, useLive } from '../../parts/page.tsx';
import { Count, Percent, Rate, Rub, Usdt } from '../../parts/values.tsx';
import { useCommon } from '../../texts/common.ts';
import { useTexts } from '../../texts/language.ts';
import { useMode, usePartner } from '../partner.ts';
import { usePortal } from '../texts/index.ts';
import { texts } from './overview.texts.ts';

const periods = ['7', '30', '90'] as const;

export default function Overview() {
  const t = useTexts(texts);
  const portal = usePortal();
  const common = useCommon();
  const mode = useMode();
  const { api, may } = usePartner();
  const [days, setDays] = useState<(typeof periods)[number]>('30');
  const path = api(`/overview?mode=${mode}&days=${days}`);
  const read = useLive<Shape>(['overview', path], path, 15_000);
  const { data } = read;
  return (
    <PageFrame
      title={portal.nav.overview}
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
      {data?.is_maintenance && <div className="banner">{common.maintenance}</div>}
      {data && !['active', 'none'].includes(data.webhook_state) && may('developer') && (
        <div className="banner">
          {t.webhook[data.webhook_state as 'failing' | 'suspended']}{' '}
          <Link href="/webhook">{t.toWebhook}</Link>
        </div>
      )}
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
      <div className="tile">
        <p className="dim">{t.available}</p>
        <p className="tile-value">
          <Usdt amount={balance.available_usdt} cents />
        </p>
        <p className="dim">
          {t.held} <Usdt amount={balance.held_usdt} cents />
        </p>
      </div>
      <div className="tile">
        <p className="dim">{t.turnover}</p>
        <p className="tile-value">
          <Rub amount={overview.turnover_rub} />
        </p>
        <p className="dim">
          <Usdt amount={overview.spent_usdt} cents />
        </p>
      </div>
      <div className="tile">
        <p className="dim">{t.payments}</p>
        <p className="tile-value">
          <Count value={overview.created} />
        </p>
        <p className="dim">
          {t.failed} <Count value={overview.failed} />
        </p>
      </div>
      <div className="tile">
        <p className="dim">{t.success}</p>
        <p className="tile-value">
          <Percent share={overview.success_share} />
        </p>
      </div>
      <div className="tile">
        <p className="dim">{t.rate}</p>
        <p className="tile-value">
          <Rate rate={rate?.rate} />
        </p>
        {rate && <State state={rate.is_stale ? 'stale' : 'fresh'} />}
      </div>
    </section>
  );
}

function Charts({ overview }: { overview: Shape }) {
  const t = useTexts(texts);
  const days = overview.days.filter(day => day !== null);
  const at = days.map(({ day }) => `${day}T00:00:00Z`);
  const share = days.map(({ succeeded, failed }) =>
    succeeded + failed === 0 ? null : (succeeded / (succeeded + failed)) * 100,
  );
  return (
    <>
      {!overview.is_complete && <p className="dim">{t.counting}</p>}
      <div className="charts">
        <Card title={t.payments}>
          <Chart
            title={t.payments}
            at={at}
            series={[
              {
                label: t.succeeded,
                values: days.map(({ succeeded }) => succeeded),
                colour: '--chart-2',
                fill: true,
              },
              { label: t.failed, values: days.map(({ failed }) => failed), colour: '--chart-3' },
            ]}
          />
        </Card>
        <Card title={t.success}>
          <Chart
            title={t.success}
            at={at}
            digits={1}
            series={[{ label: '%', values: share, colour: '--chart-4' }]}
          />
        </Card>
        <Card title={t.turnover}>
          <Chart
            title={t.turnover}
            at={at}
            series={[
              {
                label: '₽',
                values: days.map(({ turnover_rub }) => Number(turnover_rub)),
                colour: '--chart-1',
                fill: true,
              },
            ]}
          />
        </Card>
        <Card title={t.balance}>
          <Chart
            title={t.balance}
            at={at}
            series={[
              {
                label: 'USDT',
                values: days.map(({ available_usdt }) => Number(available_usdt)),
                colour: '--chart-1',
              },
            ]}
          />
        </Card>
      </div>
    </>
  );
}
