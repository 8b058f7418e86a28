import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { PaymentDetail, TimelineItem } from '../../../../src/portal/shapes/payments.ts';
import { State, TestMark } from '../../parts/badge.tsx';
import { Card, Facts, Loaded, PageFrame, useLive } from '../../parts/page.tsx';
import {
  amountIn,
  Copyable,
  Duration,
  Rate,
  Rub,
  ShortId,
  shortId,
  Time,
  Usdt,
} from '../../parts/values.tsx';
import { faultTexts } from '../../texts/faults.ts';
import { useLanguage, useTexts, wordIn } from '../../texts/language.ts';
import { usePartner } from '../partner.ts';
import { texts } from './payment.texts.ts';
import { stateOf } from './payments.tsx';

export default function Payment({ paymentId }: { paymentId: string }) {
  const t = useTexts(texts);
  const { api } = usePartner();
  const path = api(`/payments/${paymentId}`);
  const read = useLive<PaymentDetail>(['payment', path], path, 5000);
  const { data } = read;
  return (
    <PageFrame
      title={`${t.title} ${shortId(paymentId)}`}
      badge={
        data && (
          <>
            <State state={stateOf(data.payment)} />
            <TestMark mode={data.payment.mode} />
          </>
        )
      }
      lead={<Link href="/payments">{t.all}</Link>}
    >
      <Loaded of={read} />
      {data && <Details detail={data} />}
    </PageFrame>
  );
}

const signs = { good: '✓', bad: '✕', open: '◔' };

type Fact = [name: string, value: ReactNode];

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
            ...(payment.quote
              ? [
                  [
                    t.quote,
                    <span key="quote">
                      <ShortId id={payment.quote.quote_id} /> ·{' '}
                      <Time at={payment.quote.locked_at} as="short" />
                    </span>,
                  ] as Fact,
                ]
              : []),
            [t.recipient, payment.recipient],
            ...(payment.error_code ? [[t.error, wordIn(t.errors, payment.error_code)] as Fact] : []),
            ...(payment.refunded
              ? [[t.refunded, <Usdt key="refund" amount={payment.refunded.usdt} />] as Fact]
              : []),
            [t.created, <Time key="created" at={payment.created_at} />],
            [t.settled, <Time key="settled" at={payment.settled_at} />],
            [t.id, <Copyable key="id" text={payment.payment_id} />],
            [t.externalId, payment.external_id ? <Copyable key="ext" text={payment.external_id} /> : '—'],
            [t.key, <Copyable key="idem" text={payment.idempotency_key} />],
            [t.qr, <Copyable key="qr" text={payment.qr_url} />],
            ...(payment.api_request_id && may('developer')
              ? [
                  [
                    t.request,
                    <Link key="request" href={`/requests?request_id=${payment.api_request_id}`}>
                      {shortId(payment.api_request_id)}
                    </Link>,
                  ] as Fact,
                ]
              : []),
          ]}
        />
      </Card>
      <Card title={t.timeline}>
        <ol className="timeline">
          {timeline.map((item, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the timeline only grows, and two items may have the same time
            <li key={index} className={`timeline-${item.outcome ?? 'plain'}`}>
              <span className="timeline-sign" aria-hidden="true">
                {item.outcome ? signs[item.outcome] : '•'}
              </span>
              <Item item={item} />
            </li>
          ))}
        </ol>
      </Card>
      {payment.metadata !== '{}' && (
        <Card title={t.metadata}>
          <pre className="wrap-anywhere">{payment.metadata}</pre>
        </Card>
      )}
    </>
  );
}

function Item({ item }: { item: TimelineItem }) {
  const t = useTexts(texts);
  const faults = useTexts(faultTexts);
  const language = useLanguage();
  const factIn = (name: string, value: string | number) => {
    if (name === 'error') return wordIn(faults, `${value}`);
    if (name === 'error_code') return wordIn(t.errors, `${value}`);
    const shown = name === 'usdt' || name === 'rub' ? amountIn(language, `${value}`) : `${value}`;
    return t.facts[name]?.(shown) ?? shown;
  };
  const facts = Object.entries(item.facts).flatMap(([name, value]) =>
    value === null ? [] : [factIn(name, value)],
  );
  return (
    <div className="timeline-body">
      <div className="timeline-line">
        <span className="timeline-what">
          <strong>{wordIn(t.what, item.what)}</strong>
        </span>
        <span className="timeline-when dim">
          {item.duration_ms !== null && (
            <>
              <Duration ms={item.duration_ms} /> ·{' '}
            </>
          )}
          <Time at={item.at} as="clock" />
        </span>
      </div>
      {facts.length > 0 && <p className="dim wrap-anywhere">{facts.join(', ')}</p>}
    </div>
  );
}
