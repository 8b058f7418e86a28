import { useMemo } from 'react';
import type { RateNow, RatesPage } from '../../../src/console/shapes.ts';
import { inBoth, useServerText, useTexts, type Words, wordIn } from '../texts/index.ts';
import { Badge } from './badge.tsx';
import { LazyChart } from './lazy-chart.tsx';
import { Empty, Rows } from './page.tsx';
import { Rate, Time } from './values.tsx';

const texts = inBoth({
  withSpread: ['rate', 'курс'],
  mid: ['mid rate', 'рыночный курс'],
  source: ['Source', 'Источник'],
  midHead: ['Mid rate, ₽', 'Рыночный курс, ₽'],
  asOf: ['As of, UTC', 'Время котировки, UTC'],
  outcomes: {
    used: ['used', 'учтён'],
    outlier: ['excluded: outlier', 'исключён: отклонение от медианы'],
    stale: ['excluded: out of date', 'исключён: устарел'],
    failed: ['no response', 'нет ответа'],
  } as Words,
});

interface ChartProps {
  title: string;
  history: RatesPage['history'];
  height?: number;
}

/** Rubles for one USDT: the rate for partners, and the mid rate of the sources. */
export function RateChart({ title, history, height }: ChartProps) {
  const t = useTexts(texts);
  const at = useMemo(() => history.map(one => one.at), [history]);
  const series = useMemo(
    () => [
      { label: t.withSpread, values: history.map(one => Number(one.rate)), colour: '--chart-1' },
      { label: t.mid, values: history.map(one => Number(one.mid)), colour: '--chart-4', dash: [4, 3] },
    ],
    [history, t],
  );
  if (history.length === 0) return <Empty title={t.noData} />;
  return (
    <LazyChart
      title={title}
      at={at}
      series={series}
      digits={4}
      fromZero={false}
      {...(height ? { height } : {})}
    />
  );
}

/** The quote of each source, and whether it was used. */
export function RateSources({ sources }: { sources: RateNow['sources'] }) {
  const t = useTexts(texts);
  const serverText = useServerText();
  return (
    <Rows
      label={t.sources}
      rows={sources}
      keyOf={source => source.source}
      empty={<Empty title={t.noData} />}
      columns={[
        { head: t.source, cell: source => source.source },
        { head: t.midHead, right: true, cell: source => <Rate rate={source.mid} /> },
        {
          head: t.status,
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
