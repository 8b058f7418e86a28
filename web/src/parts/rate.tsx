import { lazy, Suspense, useMemo } from 'react';
import type { RateNow, RatesPage } from '../../../src/console/shapes/rates.ts';
import { inBoth, useServerText, useShared, useTexts, wordIn } from '../texts/index.ts';
import { Badge } from './badge.tsx';
import { Rate } from './money.tsx';
import { orReload } from './or-reload.ts';
import { Empty } from './states.tsx';
import { Rows } from './table.tsx';
import { Time } from './time.tsx';

const Chart = lazy(() => orReload(import('./chart.tsx')).then(part => ({ default: part.Chart })));

const texts = inBoth({
  en: {
    withSpread: 'rate',
    mid: 'mid rate',
    sources: 'Rate sources',
    source: 'Source',
    outcome: 'Status',
    midHead: 'Mid rate, ₽',
    asOf: 'As of, UTC',
    outcomes: {
      used: 'used',
      outlier: 'excluded: outlier',
      stale: 'excluded: out of date',
      failed: 'no response',
    } as Record<string, string>,
  },
  ru: {
    withSpread: 'курс',
    mid: 'средний курс',
    sources: 'Источники курса',
    source: 'Источник',
    outcome: 'Статус',
    midHead: 'Средний курс, ₽',
    asOf: 'Время котировки, UTC',
    outcomes: {
      used: 'учтён',
      outlier: 'исключён: отклонение от медианы',
      stale: 'исключён: устарел',
      failed: 'нет ответа',
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
  const serverText = useServerText();
  return (
    <Rows
      label={t.sources}
      rows={sources}
      keyOf={source => source.source}
      empty={<Empty title={shared.noData} />}
      columns={[
        { head: t.source, cell: source => source.source },
        { head: t.midHead, right: true, cell: source => <Rate rate={source.mid} /> },
        {
          head: t.outcome,
          cell: source => (
            <span title={source.reason ? serverText(source.reason) : undefined}>
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
