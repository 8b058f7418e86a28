import { Link } from 'wouter';
import type { PaymentDetail } from '../../../../src/portal/shapes.ts';
import { State, TestMark } from '../../parts/badge.tsx';
import { Download } from '../../parts/download.tsx';
import { Card, Facts, Loaded, PageFrame, useLive } from '../../parts/page.tsx';
import { stateOf } from '../../parts/payments.tsx';
import { Timeline, useFactLine } from '../../parts/timeline.tsx';
import { Copyable, Rate, Rub, ShortId, shortId, Time, Usdt } from '../../parts/values.tsx';
import { paymentErrors } from '../../texts/payment-errors.ts';
import { usePartner } from '../partner.ts';
import {
  type Facts as FactWords,
  inBoth,
  useLanguage,
  useTexts,
  type Words,
  wordIn,
} from '../texts/index.ts';

const texts = inBoth({
  all: ['← All payments', '← Все платежи'],
  receipt: ['Receipt (PDF)', 'Квитанция (PDF)'],
  inReview: [
    'The bank has not confirmed the result yet. Do not pay again and do not refund your customer: we keep checking.',
    'Банк ещё не подтвердил результат. Не платите повторно и не возвращайте деньги клиенту: мы продолжаем проверять.',
  ],
  debited: ['Debited', 'Списано'],
  refunded: ['Refunded to the balance', 'Возвращено на баланс'],
  id: ['Payment ID', 'ID платежа'],
  key: 'Idempotency-Key',
  paidBy: ['Paid by hand by', 'Кто оплатил вручную'],
  qr: ['QR link', 'Ссылка QR'],
  request: ['API request', 'Запрос к API'],
  timeline: ['Timeline', 'История'],
  what: {
    created: ['Created', 'Создан'],
    manual_review: ['Waiting for the bank', 'Ждём ответа банка'],
    succeeded: ['Succeeded', 'Оплачен'],
    failed: ['Failed', 'Не прошёл'],
    hold: ['Amount put on hold', 'Сумма зарезервирована'],
    settle: ['Debit is final', 'Списание окончательное'],
    release: ['Amount returned to the balance', 'Сумма возвращена на баланс'],
    refund: ['Refunded by the recipient', 'Получатель вернул деньги'],
    'payment.succeeded': ['Event payment.succeeded', 'Событие payment.succeeded'],
    'payment.failed': ['Event payment.failed', 'Событие payment.failed'],
    delivered: ['Webhook delivered', 'Вебхук доставлен'],
    not_delivered: ['Webhook not delivered', 'Вебхук не доставлен'],
    given_up: ['All webhook attempts failed', 'Все попытки доставки исчерпаны'],
    next_attempt: ['Next webhook attempt', 'Следующая попытка доставки'],
  } as Words,
  named: {
    operation_number: number => [`SBP operation ${number}`, `операция СБП ${number}`],
    usdt: value => [`${value} USDT`, `${value} USDT`],
    rub: value => [`${value} ₽`, `${value} ₽`],
    attempt: value => [`attempt ${value}`, `попытка ${value}`],
    http_status: value => [`HTTP ${value}`, `HTTP ${value}`],
  } as FactWords,
  errors: {
    ...paymentErrors,
    not_executed: ['The payment was not executed.', 'Платёж не исполнен.'],
  } as Words,
});

export default function Payment({ paymentId }: { paymentId: string }) {
  const t = useTexts(texts);
  const { api } = usePartner();
  const language = useLanguage();
  const path = api(`/payments/${paymentId}`);
  const read = useLive<PaymentDetail>(path, 5000);
  const { data } = read;
  return (
    <PageFrame
      title={`${t.payment} ${shortId(paymentId)}`}
      badge={
        data && (
          <>
            <State state={stateOf(data.payment)} />
            <TestMark mode={data.payment.mode} />
          </>
        )
      }
      lead={<Link href="/payments">{t.all}</Link>}
      actions={data && <Download path={`${path}/receipt?language=${language}`} label={t.receipt} />}
    >
      <Loaded of={read} />
      {data && <Details detail={data} />}
    </PageFrame>
  );
}

function Details({ detail: { payment, timeline } }: { detail: PaymentDetail }) {
  const t = useTexts(texts);
  const { may } = usePartner();
  return (
    <>
      {stateOf(payment) === 'manual_review' && <div className="banner">{t.inReview}</div>}
      <Card>
        <Facts
          facts={[
            [t.amount, <Rub key="rub" amount={payment.amount_rub} />],
            [t.debited, <Usdt key="usdt" amount={payment.amount_usdt} />],
            [t.rate, <Rate key="rate" rate={payment.rate} />],
            payment.quote && [
              t.quote,
              <span key="quote">
                <ShortId id={payment.quote.quote_id} /> · <Time at={payment.quote.locked_at} as="short" />
              </span>,
            ],
            [t.recipient, payment.recipient],
            payment.error_code && [t.reason, wordIn(t.errors, payment.error_code)],
            payment.paid_by && [
              t.paidBy,
              payment.paid_by_name ? `${payment.paid_by_name} (${payment.paid_by})` : payment.paid_by,
            ],
            payment.refunded && [t.refunded, <Usdt key="refund" amount={payment.refunded.usdt} />],
            [t.created, <Time key="created" at={payment.created_at} />],
            [t.settled, <Time key="settled" at={payment.settled_at} />],
            [t.id, <Copyable key="id" text={payment.payment_id} />],
            [t.externalId, payment.external_id ? <Copyable key="ext" text={payment.external_id} /> : '—'],
            // Of a payment by hand it is the person and a number of the page.
            !payment.paid_by && [t.key, <Copyable key="idem" text={payment.idempotency_key} />],
            [t.qr, <Copyable key="qr" text={payment.qr_url} />],
            payment.api_request_id &&
              may('integrate') && [
                t.request,
                <Link key="request" href={`/requests?request_id=${payment.api_request_id}`}>
                  {shortId(payment.api_request_id)}
                </Link>,
              ],
          ]}
        />
      </Card>
      <Card title={t.timeline}>
        <Timeline
          items={timeline}
          factsOf={useFactLine(t, ['usdt', 'rub'])}
          whatOf={({ what }) => <strong>{wordIn(t.what, what)}</strong>}
        />
      </Card>
      {payment.metadata !== '{}' && (
        <Card title={t.metadata}>
          <pre className="wrap-anywhere">{payment.metadata}</pre>
        </Card>
      )}
    </>
  );
}
