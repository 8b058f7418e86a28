import { lazy, Suspense, useMemo } from 'react';
import type { RateNow, RatesPage } from '../../../src/console/shapes/rates.ts';
import { inBoth, useShared, useTexts, wordIn } from '../texts/index.ts';
import { Badge } from './badge.tsx';
import { Empty } from './states.tsx';
import { Rows } from './table.tsx';
import { Time } from './time.tsx';

const Chart = lazy(() => import('./chart.tsx').then(part => ({ default: part.Chart })));

const texts = inBoth({
  en: {
    withSpread: 'rate',
    mid: 'mid',
    sources: 'Sources of the rate',
    source: 'Source',
    outcome: 'Outcome',
    midHead: 'Mid, ₽',
    asOf: 'As of, UTC',
    outcomes: {
      used: 'used',
      outlier: 'left out: too far off',
      stale: 'left out: too old',
      failed: 'did not answer',
    } as Record<string, string>,
  },
  ru: {
    withSpread: 'курс',
    mid: 'средний',
    sources: 'Источники курса',
    source: 'Источник',
    outcome: 'Итог',
    midHead: 'Средний, ₽',
    asOf: 'На время, UTC',
    outcomes: {
      used: 'учтён',
      outlier: 'исключён: слишком далёк',
      stale: 'исключён: устарел',
      failed: 'не ответил',
    },
  },
});

/** Rubles for one USDT: the rate for partners, and the mid rate of the sources. */
export function RateChart({
  title,
  history,
  height,
}: {
  title: string;
  history: RatesPage['history'];
  height?: number;
}) {
  const t = useTexts(texts);
  const shared = useShared();
  const at = useMemo(() => history.map(one => one.at), [history]);
  const series = useMemo(
    () => [
      { label: t.withSpread, values: history.map(one => Number(one.rate)), colour: '--chart-1' },
      { label: t.mid, values: history.map(one => Number(one.mid)), colour: '--chart-4', dash: [4, 3] },
    ],
    [history, t],
  );
  if (history.length === 0) return <Empty title={shared.noData} />;
  return (
    <Suspense fallback={<div className="chart-placeholder" />}>
      <Chart
        title={title}
        at={at}
        series={series}
        digits={4}
        fromZero={false}
        {...(height ? { height } : {})}
      />
    </Suspense>
  );
}

/** The quote of each source, and whether it was used. */
export function RateSources({ sources }: { sources: RateNow['sources'] }) {
  const t = useTexts(texts);
  const shared = useShared();
  return (
    <Rows
      label={t.sources}
      rows={sources}
      keyOf={source => source.source}
      empty={<Empty title={shared.noData} />}
      columns={[
        { head: t.source, cell: source => source.source },
        { head: t.midHead, right: true, cell: source => <span className="number">{source.mid ?? '—'}</span> },
        {
          head: t.outcome,
          cell: source => (
            <span title={source.reason ?? undefined}>
              <Badge tone={source.outcome === 'used' ? 'good' : 'warn'}>
                {wordIn(t.outcomes, source.outcome)}
              </Badge>
            </span>
          ),
        },
        { head: t.asOf, wideOnly: true, cell: source => <Time at={source.as_of} as="short" /> },
      ]}
    />
  );
}
