import type { ReviewRow } from '../../../src/console/shapes/payments.ts';
import { Action } from '../parts/action.tsx';
import { Badge, TestMark } from '../parts/badge.tsx';
import { Rub } from '../parts/money.tsx';
import { PageFrame } from '../parts/page.tsx';
import { Cut, ShortId } from '../parts/short.tsx';
import { Empty } from '../parts/states.tsx';
import { type Column, KeysetTable } from '../parts/table.tsx';
import { durationIn, Time } from '../parts/time.tsx';
import { inBoth, useLanguage, useShared, useTexts } from '../texts/index.ts';
import { texts as paymentTexts } from './payment.texts.ts';
import { useAsk } from './payment.tsx';
import { texts as listTexts } from './payments.texts.ts';

const texts = inBoth({
  en: {
    lead: 'Payments whose outcome is still unknown, the oldest first. Kopeck keeps polling the gateway.',
    age: 'Age',
    last: 'Last answer',
    times: (n: number) => `asked ${n}×`,
    next: 'again at',
    now: 'asking now',
    wish: 'waits for a second operator',
    action: 'Action',
    ask: 'Ask again',
    none: 'Nothing to review',
    noneHint: 'Every payment has an outcome, or is still within its time. This page follows by itself.',
  },
  ru: {
    lead: 'Платежи, об исходе которых шлюз не сообщил; старые сверху. Kopeck продолжает спрашивать сам.',
    age: 'Возраст',
    last: 'Последний ответ',
    times: n => `спросили ${n}×`,
    next: 'снова в',
    now: 'спрашивает',
    wish: 'ждёт второго оператора',
    action: 'Действие',
    ask: 'Спросить',
    none: 'Разбирать нечего',
    noneHint:
      'У каждого платежа есть исход, или он ещё в пределах своего времени. Страница обновляется сама.',
  },
});

export default function Review() {
  const t = useTexts(texts);
  const list = useTexts(listTexts);
  const shared = useShared();
  const language = useLanguage();
  const columns: Column<ReviewRow>[] = [
    { head: list.payment, cell: row => <ShortId id={row.payment_id} /> },
    { head: t.age, cell: row => <span className="number">{durationIn(language, row.age_sec * 1000)}</span> },
    {
      head: list.status,
      cell: row => (
        <>
          {row.overdue ? (
            <Badge tone="bad">{shared.states.overdue}</Badge>
          ) : (
            <Badge tone="open">{shared.states.manual_review}</Badge>
          )}
          {row.request && <span className="under">{t.wish}</span>}
        </>
      ),
    },
    {
      head: list.partner,
      cell: row => (
        <>
          <span className="inline">
            <Cut text={row.partner} wide />
            <TestMark mode={row.mode} />
          </span>
          <span className="under">
            <Cut text={row.recipient} wide />
          </span>
        </>
      ),
    },
    { head: list.rub, cell: row => <Rub amount={row.amount_rub} bare />, right: true },
    {
      head: t.last,
      cell: row => (
        <>
          <Cut text={row.last_answer} wide />
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
    <PageFrame title={shared.nav.review} lead={t.lead}>
      <KeysetTable<ReviewRow>
        label={shared.nav.review}
        queryKey={['review']}
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
