import type { ReviewRow } from '../../../src/console/shapes.ts';
import { Action } from '../parts/action.tsx';
import { Badge, State, TestMark } from '../parts/badge.tsx';
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
    lead: 'Payments whose outcome the gateway has not told, the oldest first. Kopeck goes on asking by itself.',
    age: 'Age',
    last: 'Last answer',
    tries: 'Asked',
    times: (n: number) => `${n}×`,
    next: 'Next look',
    now: 'asking now',
    wish: 'Second person',
    action: 'Action',
    ask: 'Ask again',
    none: 'Nothing to review',
    noneHint: 'Every payment has an outcome, or is still within its time. This page follows by itself.',
  },
  ru: {
    lead: 'Платежи, об исходе которых шлюз не сообщил; старые сверху. Kopeck продолжает спрашивать сам.',
    age: 'Возраст',
    last: 'Последний ответ',
    tries: 'Спросили',
    times: n => `${n}×`,
    next: 'Проверка',
    now: 'спрашивает',
    wish: 'Второй человек',
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
    {
      head: t.age,
      cell: row => (
        <span className="inline">
          <span className="number">{durationIn(language, row.age_sec * 1000)}</span>
          {row.overdue && <Badge tone="bad">{shared.states.overdue}</Badge>}
        </span>
      ),
    },
    {
      head: list.partner,
      cell: row => (
        <span className="inline">
          <Cut text={row.partner} />
          <TestMark mode={row.mode} />
        </span>
      ),
    },
    { head: list.recipient, cell: row => <Cut text={row.recipient} />, wideOnly: true },
    { head: list.rub, cell: row => <Rub amount={row.amount_rub} bare />, right: true },
    { head: t.last, cell: row => <Cut text={row.last_answer} /> },
    {
      head: t.tries,
      cell: row => <span className="number">{t.times(row.tries)}</span>,
      right: true,
      wideOnly: true,
    },
    {
      head: t.next,
      cell: row => (row.is_under_way ? t.now : <Time at={row.next_look_at} as="short" />),
      wideOnly: true,
    },
    {
      head: t.wish,
      cell: row => (row.request ? <State state={row.request.state} /> : <span className="dim">—</span>),
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
