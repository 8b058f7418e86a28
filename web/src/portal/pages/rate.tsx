import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import type { LockedQuotes, Quote, RatePage } from '../../../../src/portal/shapes.ts';
import { ask, query } from '../../api.ts';
import { State } from '../../parts/badge.tsx';
import { Chart } from '../../parts/chart.tsx';
import { Choice, TextField } from '../../parts/fields.tsx';
import { Card, Empty, Facts, Failure, Loaded, PageFrame, Rows, useLive } from '../../parts/page.tsx';
import { amountIn, clean, durationIn, Rate, Rub, ShortId, Time, Usdt } from '../../parts/values.tsx';
import { useMode, usePartner } from '../partner.ts';
import { inBoth, useLanguage, useTexts } from '../texts/index.ts';

const texts = inBoth({
  now: ['Now', 'Сейчас'],
  perUsdt: ['₽ for 1 USDT', '₽ за 1 USDT'],
  asOf: ['As of', 'На момент'],
  noRate: ['No rate yet', 'Курса пока нет'],
  stale: [
    'The rate is out of date: payments are paused until it is updated.',
    'Курс устарел: платежи не принимаются, пока он не обновится.',
  ],
  history: ['History', 'История'],
  span: ['Period', 'Период'],
  spans: {
    '24': ['24 hours', '24 часа'],
    '168': ['7 days', '7 дней'],
    '720': ['30 days', '30 дней'],
  },
  rate: ['rate', 'курс'],
  calculator: ['What a payment costs', 'Сколько спишется'],
  notAnAmount: ['Enter an amount such as 1500 or 1500.50', 'Введите сумму, например 1500 или 1500,50'],
  atNow: ['At the current rate', 'По текущему курсу'],
  locked: (time: string) => [`With a locked rate, valid for ${time}`, `С фиксацией курса на ${time}`],
  outside: [
    'Your limits do not allow a payment of this amount.',
    'Ваши лимиты не допускают платёж на эту сумму.',
  ],
  fee: [
    'There is no fee: the cost of the service is in the rate.',
    'Комиссии нет: стоимость сервиса уже в курсе.',
  ],
  quotes: ['Locked quotes', 'Зафиксированные курсы'],
  quotesSays: (used: string, max: string) => [
    `Locked now: ${used} of ${max} USDT.`,
    `Сейчас зафиксировано: ${used} из ${max} USDT.`,
  ],
  noQuotes: ['No locked quotes', 'Нет зафиксированных курсов'],
  noQuotesHint: [
    'Lock a rate with POST /v1/quote and "lock": true. Quotes are here until they are used or expire.',
    'Курс фиксирует запрос POST /v1/quote с "lock": true. Здесь видны котировки, пока их не использовали и срок не истёк.',
  ],
  quote: ['Quote', 'Котировка'],
});

const spans = ['24', '168', '720'] as const;
type Span = (typeof spans)[number];

export default function RateOfPartner() {
  const t = useTexts(texts);
  const { api } = usePartner();
  const [hours, setHours] = useState<Span>('24');
  const path = api(`/rate?hours=${hours}`);
  const read = useLive<RatePage>(path, 15_000);
  const { data } = read;
  return (
    <PageFrame title={t.nav.rate}>
      <Loaded of={read} />
      {data?.now?.is_stale && <div className="banner">{t.stale}</div>}
      {data && (
        <div className="charts portal-section">
          <Now now={data.now} />
          <Calculator />
        </div>
      )}
      {data && <History history={data.history} hours={hours} onHours={setHours} />}
      <Quotes />
    </PageFrame>
  );
}

function Now({ now }: { now: RatePage['now'] }) {
  const t = useTexts(texts);
  if (!now)
    return (
      <Card title={t.now}>
        <Empty title={t.noRate} />
      </Card>
    );
  return (
    <Card title={t.now} side={<State state={now.is_stale ? 'stale' : 'fresh'} />}>
      <p className="figure-value">
        <Rate rate={now.rate} /> <span className="figure-unit">{t.perUsdt}</span>
      </p>
      <p className="dim">
        {t.asOf} <Time at={now.as_of} />
      </p>
      <p className="dim">{t.fee}</p>
    </Card>
  );
}

interface HistoryProps {
  history: RatePage['history'];
  hours: Span;
  onHours: (hours: Span) => void;
}

function History({ history, hours, onHours }: HistoryProps) {
  const t = useTexts(texts);
  const at = useMemo(() => history.map(one => one.at), [history]);
  const series = useMemo(
    () => [{ label: t.rate, values: history.map(one => Number(one.rate)), colour: '--chart-1' }],
    [history, t],
  );
  return (
    <Card
      title={t.history}
      side={
        <Choice
          label={t.span}
          value={hours}
          options={spans.map(one => [one, t.spans[one]])}
          onChange={onHours}
        />
      }
    >
      {history.length === 0 ? (
        <Empty title={t.noRate} />
      ) : (
        <Chart title={t.history} at={at} series={series} digits={4} fromZero={false} height={220} />
      )}
    </Card>
  );
}

function Quotes() {
  const t = useTexts(texts);
  const language = useLanguage();
  const { api } = usePartner();
  const mode = useMode();
  const cents = (usdt: string) => amountIn(language, usdt.slice(0, -4));
  const path = api(`/quotes?mode=${mode}`);
  const { data } = useLive<LockedQuotes>(path, 5000);
  if (!data) return null;
  return (
    <Card title={t.quotes}>
      <p className="dim">{t.quotesSays(cents(data.locked_usdt), cents(data.max_usdt))}</p>
      <Rows
        label={t.quotes}
        columns={[
          { head: t.quote, cell: row => <ShortId id={row.quote_id} /> },
          { head: t.rub, cell: row => <Rub amount={row.amount_rub} bare />, right: true },
          { head: 'USDT', cell: row => <Usdt amount={row.amount_usdt} bare />, right: true },
          { head: t.perUsdt, cell: row => <Rate rate={row.rate} />, right: true },
          { head: t.expires, cell: row => <Time at={row.expires_at} as="clock" /> },
        ]}
        rows={data.data}
        keyOf={row => row.quote_id}
        empty={<Empty title={t.noQuotes}>{t.noQuotesHint}</Empty>}
      />
    </Card>
  );
}

/** What an amount in rubles costs now. The service computes it: a page that rounds by itself would show another sum. */
export function Calculator() {
  const t = useTexts(texts);
  const { api } = usePartner();
  const [typed, setTyped] = useState('1500');
  const amount_rub = clean(typed);
  const isAmount = /^\d{1,9}(\.\d{1,2})?$/.test(amount_rub) && Number(amount_rub) > 0;
  const path = api(`/quote${query({ amount_rub })}`);
  const { data, error } = useQuery({
    queryKey: ['quote', path],
    queryFn: ({ signal }) => ask<Quote>(path, signal),
    enabled: isAmount,
    refetchInterval: 15_000,
  });
  return (
    <Card title={t.calculator}>
      <TextField
        label={t.rub}
        inputMode="decimal"
        maxLength={14}
        value={typed}
        error={!isAmount && typed !== '' && t.notAnAmount}
        onChange={setTyped}
      />
      <div aria-live="polite" className="portal-cost">
        {error && isAmount && <Failure error={error} />}
        {data && isAmount && <Costs quote={data} />}
      </div>
    </Card>
  );
}

function Costs({ quote }: { quote: Quote }) {
  const t = useTexts(texts);
  const language = useLanguage();
  const cost = ({ amount_usdt, rate }: { amount_usdt: string; rate: string }) => (
    <>
      <strong>
        <Usdt amount={amount_usdt} />
      </strong>
      <span className="under">
        <Rate rate={rate} /> {t.perUsdt}
      </span>
    </>
  );
  return (
    <>
      <Facts
        facts={[
          [t.atNow, cost(quote)],
          quote.locked && [
            t.locked(durationIn(language, quote.locked.lifetime_sec * 1000)),
            cost(quote.locked),
          ],
        ]}
      />
      {!quote.is_within_limits && <p className="bad-text">{t.outside}</p>}
    </>
  );
}
