import type { ReviewRow } from '../../../src/console/shapes.ts';
import { Action } from '../parts/action.tsx';
import { Badge, Owner, State } from '../parts/badge.tsx';
import { type Column, Empty, KeysetTable, PageFrame } from '../parts/page.tsx';
import { durationIn, Middle, Name, Rub, ShortId, Time } from '../parts/values.tsx';
import { inBoth, useLanguage, useTexts, wordIn } from '../texts/index.ts';
import { texts as paymentTexts } from './payment.texts.ts';
import { useAsk, usePaymentFacts } from './payment.tsx';
import { texts as listTexts } from './payments.texts.ts';

const texts = inBoth({
  lead: [
    'Payments whose result is still unknown, oldest first. Kopeck keeps checking their status at the gateway.',
    'Платежи, результат которых ещё неизвестен, сначала старые. Kopeck продолжает проверять их статус в шлюзе.',
  ],
  age: ['Age', 'Прошло'],
  times: (n: number) => [`checks: ${n}`, `проверок: ${n}`],
  next: ['next at', 'следующая в'],
  now: ['checking now', 'проверяется сейчас'],
  wish: ['waiting for approval', 'ожидает подтверждения'],
  none: ['No payments in manual review', 'Нет платежей на ручной проверке'],
  noneHint: ['The page updates automatically.', 'Страница обновляется автоматически.'],
});

export default function Review() {
  const t = useTexts(texts);
  const list = useTexts(listTexts);
  const language = useLanguage();
  const columns: Column<ReviewRow>[] = [
    { head: list.payment, cell: row => <ShortId id={row.payment_id} /> },
    { head: t.age, cell: row => <span className="number">{durationIn(language, row.age_sec * 1000)}</span> },
    {
      head: list.status,
      cell: row => (
        <>
          <span className="inline">
            <State state="manual_review" />
            {row.overdue && <Badge tone="bad">{t.states.overdue}</Badge>}
          </span>
          {row.request && <span className="under">{t.wish}</span>}
        </>
      ),
    },
    {
      head: list.partner,
      cell: row => (
        <>
          <Owner of={row} />
          <span className="under">
            <Name text={row.recipient} />
          </span>
          {row.external_id !== null && (
            <span className="under">
              {t.externalId}: <Middle text={row.external_id} />
            </span>
          )}
        </>
      ),
    },
    { head: list.rub, cell: row => <Rub amount={row.amount_rub} bare />, right: true },
    {
      head: t.answer,
      cell: row => (
        <>
          <LastAnswer row={row} />
          <span className="under">
            {t.times(row.tries)} ·{' '}
            {row.is_under_way ? (
              t.now
            ) : (
              <>
                {t.next} <Time at={row.next_poll_at} as="clock" />
              </>
            )}
          </span>
        </>
      ),
    },
    { head: t.action, cell: row => <Ask row={row} /> },
  ];
  return (
    <PageFrame title={t.nav.review} lead={t.lead}>
      <KeysetTable<ReviewRow>
        label={t.nav.review}
        path="/review"
        everyMs={3000}
        columns={columns}
        keyOf={row => row.payment_id}
        hrefOf={row => `/payments/${row.payment_id}`}
        empty={<Empty title={t.none}>{t.noneHint}</Empty>}
      />
    </PageFrame>
  );
}

function LastAnswer({ row: { last_answer: last } }: { row: ReviewRow }) {
  const payment = useTexts(paymentTexts);
  const factLine = usePaymentFacts();
  if (!last) return <span className="dim">—</span>;
  const { call, ...facts } = last;
  return <Name text={`${wordIn(payment.what, call)}: ${factLine(facts)}`} />;
}

function Ask({ row }: { row: ReviewRow }) {
  const t = useTexts(texts);
  const payment = useTexts(paymentTexts);
  const { ask, asking } = useAsk(`/payments/${row.payment_id}`);
  return (
    <Action
      needs="payments.ask"
      size="compact-xs"
      loading={asking}
      why={row.is_under_way ? payment.underWay : undefined}
      onClick={() => void ask()}
    >
      {t.ask}
    </Action>
  );
}
