import { type ReactNode, useMemo } from 'react';
import { Link, useSearchParams } from 'wouter';
import type { AlarmRow, Overview as OverviewNow, RateNow, RatesPage } from '../../../src/console/shapes.ts';
import { AlarmSubject, AlarmTitle, ClearAlarm } from '../parts/alarm.tsx';
import { Badge, State } from '../parts/badge.tsx';
import { Choice } from '../parts/fields.tsx';
import { Icon } from '../parts/icon.tsx';
import { LazyChart } from '../parts/lazy-chart.tsx';
import { Card, Empty, Failure, Loaded, PageFrame, useLive } from '../parts/page.tsx';
import { RateChart, RateSources } from '../parts/rate.tsx';
import { Ago, Count, durationIn, numberIn, Percent, Rate, Usdt } from '../parts/values.tsx';
import { useLanguage, useServerText, useTexts } from '../texts/index.ts';
import { texts } from './overview.texts.ts';

const spans = ['60', '360', '1440'] as const;

export default function Overview() {
  const t = useTexts(texts);
  const [params, setParams] = useSearchParams();
  const minutes = spans.find(one => one === params.get('minutes')) ?? '60';
  const live = useLive<OverviewNow>(`/overview?minutes=${minutes}`, 5000);
  return (
    <PageFrame
      title={t.nav.overview}
      actions={
        <Choice
          label={t.span}
          value={minutes}
          options={spans.map(one => [one, t.spans[one]])}
          onChange={chosen => setParams(chosen === '60' ? {} : { minutes: chosen })}
        />
      }
    >
      <Loaded of={live} />
      {live.data && (
        <div className="stack">
          <Figures now={live.data} minutes={Number(minutes)} />
          <div className="grid">
            <PerMinute now={live.data} />
            <RateHistory />
          </div>
          <div className="grid">
            <Card title={t.alarms} side={<Link href="/alarms">{t.allAlarms}</Link>}>
              <Alarms alarms={live.data.alarms} />
            </Card>
            <Sources rate={live.data.rate} />
          </div>
        </div>
      )}
    </PageFrame>
  );
}

interface FigureProps {
  name: string;
  href?: string;
  value: ReactNode;
  children?: ReactNode;
}

function Figure({ name, href, value, children }: FigureProps) {
  return (
    <div className="figure">
      <p className="figure-name">{href ? <Link href={href}>{name}</Link> : name}</p>
      <p className="figure-value">{value}</p>
      <p className="figure-more dim">{children}</p>
    </div>
  );
}

function Figures({ now, minutes }: { now: OverviewNow; minutes: number }) {
  const t = useTexts(texts);
  const language = useLanguage();
  const number = (value: number, digits = 0) => numberIn(language, value, digits);
  const { review, balances, rate, deliveries } = now;
  return (
    <div className="figures">
      <Figure name={t.payments} href="/payments?mode=live" value={<Count value={now.created} />}>
        {t.perMinute(number(now.created / minutes, 1))}
        {now.processing > 0 && ` · ${t.processing.toLowerCase()}: ${number(now.processing)}`}
      </Figure>
      <Figure name={t.success} value={<Percent share={now.success_share} />}>
        {t.ended(number(now.succeeded), number(now.succeeded + now.failed))}
      </Figure>
      <Figure
        name={t.settle}
        value={now.settle_p50_ms === null ? '—' : durationIn(language, now.settle_p50_ms)}
      >
        {now.settle_p99_ms !== null && t.settleHint(durationIn(language, now.settle_p99_ms))}
      </Figure>
      <Figure name={t.review} href="/review" value={<Count value={review.count} />}>
        {review.count === 0 ? (
          t.reviewNone
        ) : (
          <>
            {t.oldest} <Ago at={review.oldest_at} />
          </>
        )}{' '}
        {review.overdue > 0 && <Badge tone="bad">{t.overdue(review.overdue)}</Badge>}
      </Figure>
      <Figure name={t.rate} href="/rates" value={<Rate rate={rate?.rate} />}>
        {rate ? t.rateAge(durationIn(language, Math.max(1, rate.age_sec) * 1000)) : t.noRate}{' '}
        {rate?.stale && <State state="stale" />}
        {now.quotes.count > 0 && (
          <>
            {' · '}
            {t.locked} <Usdt amount={now.quotes.locked_usdt} bare cents /> /{' '}
            <Usdt amount={now.quotes.max_usdt} cents />
          </>
        )}
      </Figure>
      <Figure name={t.available} href="/ledger" value={<Usdt amount={balances.available_usdt} bare cents />}>
        {t.held} <Usdt amount={balances.held_usdt} bare cents /> · {t.partners(balances.partners)}
      </Figure>
      <Figure
        name={`${t.deliveries}: ${t.failing}`}
        href="/deliveries?state=pending"
        value={<Count value={deliveries.failing} />}
      >
        {[
          deliveries.waiting > 0 && t.waitingNow(deliveries.waiting),
          deliveries.given_up > 0 && t.givenUp(deliveries.given_up),
          deliveries.suspended_partners > 0 && t.suspended(deliveries.suspended_partners),
        ]
          .filter(Boolean)
          .join(' · ') || t.allWell}
      </Figure>
      <Figure
        name={t.tasks}
        href="/requests"
        value={<Count value={now.requests_waiting + now.partners_to_approve + now.deposits_held} />}
      >
        <Link href="/requests">{t.requests(now.requests_waiting)}</Link>
        {' · '}
        <Link href="/partners">{t.toApprove(now.partners_to_approve)}</Link>
        {now.deposits_held > 0 && (
          <>
            {' · '}
            <Link href="/deposits">{t.heldDeposits(now.deposits_held)}</Link>
          </>
        )}
      </Figure>
    </div>
  );
}

function PerMinute({ now }: { now: OverviewNow }) {
  const t = useTexts(texts);
  const { at, series } = useMemo(
    () => ({
      at: now.per_minute.map(one => one.at),
      series: [
        { label: t.created, values: now.per_minute.map(one => one.created), colour: '--chart-1', fill: true },
        { label: t.succeeded, values: now.per_minute.map(one => one.succeeded), colour: '--chart-2' },
        { label: t.failed, values: now.per_minute.map(one => one.failed), colour: '--chart-3', dash: [4, 3] },
      ],
    }),
    [now.per_minute, t],
  );
  return (
    <Card title={t.chart}>
      <LazyChart title={t.chart} at={at} series={series} />
    </Card>
  );
}

function RateHistory() {
  const t = useTexts(texts);
  const rates = useLive<RatesPage>('/rates?hours=24', 30_000);
  return (
    <Card title={t.rateChart}>
      {rates.isError && !rates.data && <Failure error={rates.error} />}
      {rates.data && <RateChart title={t.rateChart} history={rates.data.history} />}
    </Card>
  );
}

function Sources({ rate }: { rate: RateNow | null }) {
  const t = useTexts(texts);
  return (
    <Card title={t.sources} side={<Link href="/rates">{t.nav.rates}</Link>}>
      <RateSources sources={rate?.sources ?? []} />
    </Card>
  );
}

/** The open alarms, with links to their subjects. */
export function Alarms({ alarms }: { alarms: AlarmRow[] }) {
  const t = useTexts(texts);
  const serverText = useServerText();
  if (alarms.length === 0) return <Empty title={t.noAlarms}>{t.noAlarmsHint}</Empty>;
  return (
    <ul className="alarms">
      {alarms.map(alarm => (
        <li key={alarm.alarm_id}>
          <Icon name="alarms" />
          <div className="alarm-body">
            <p>
              <AlarmTitle alarm={alarm} /> <AlarmSubject alarm={alarm} />
            </p>
            <p className="wrap-anywhere">{serverText(alarm.detail)}</p>
            <p className="dim">
              <Ago at={alarm.last_at} />
              {alarm.times > 1 && ` · ${t.times(alarm.times)}`}
            </p>
          </div>
          <ClearAlarm alarm={alarm} />
        </li>
      ))}
    </ul>
  );
}
