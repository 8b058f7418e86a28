import { Group } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import type { PaymentDetail, TimelineItem } from '../../../src/console/shapes.ts';
import { query, send } from '../api.ts';
import { Action } from '../parts/action.tsx';
import { State, TestMark } from '../parts/badge.tsx';
import { BalanceChange } from '../parts/balance-change.tsx';
import { pretty } from '../parts/body.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { useRun } from '../parts/notify.ts';
import { Card, type Fact, Facts, Failure, Loaded, PageFrame, useLive } from '../parts/page.tsx';
import { stateOf } from '../parts/payments.tsx';
import { RequestCard } from '../parts/request.tsx';
import { Timeline, useFactLine } from '../parts/timeline.tsx';
import { actorName, Copyable, Duration, IdLink, percentIn, Rate, Rub, Time, Usdt } from '../parts/values.tsx';
import { useLanguage, useShared, useTexts, wordIn } from '../texts/index.ts';
import { texts } from './payment.texts.ts';

export default function Payment({ paymentId }: { paymentId: string }) {
  const t = useTexts(texts);
  const [hasEnded, setEnded] = useState(false);
  const path = `/payments/${encodeURIComponent(paymentId)}`;
  const found = useLive<PaymentDetail>(path, hasEnded ? 15_000 : 2500);
  const isOver = found.data !== undefined && found.data.payment.status !== 'processing';
  if (isOver !== hasEnded) setEnded(isOver);

  if (!found.data) {
    return (
      <PageFrame title={t.payment} lead={<code>{paymentId}</code>}>
        <Loaded of={found} />
      </PageFrame>
    );
  }
  const { payment, timeline, request } = found.data;
  return (
    <PageFrame
      title={t.payment}
      badge={
        <>
          <State state={stateOf(payment)} />
          <TestMark mode={payment.mode} />
        </>
      }
      lead={<Copyable text={payment.payment_id} />}
      actions={<Actions detail={found.data} path={path} />}
    >
      <div className="stack">
        {found.isError && <Failure error={found.error} />}
        {request && <RequestCard request={request} />}
        <div className="two-to-three">
          <PaymentFacts payment={payment} />
          <Card title={t.timeline}>
            <History items={timeline} />
          </Card>
        </div>
      </div>
    </PageFrame>
  );
}

function PaymentFacts({ payment }: { payment: PaymentDetail['payment'] }) {
  const t = useTexts(texts);
  const language = useLanguage();
  const tookMs = payment.settled_at ? Date.parse(payment.settled_at) - Date.parse(payment.created_at) : null;
  return (
    <Card title={t.facts}>
      <p className="amount">
        <Rub amount={payment.amount_rub} />
      </p>
      <Facts
        facts={[
          [t.moved[payment.status], <Usdt key="usdt" amount={payment.amount_usdt} />],
          [t.rate, <Rate key="rate" rate={payment.rate} />],
          payment.quote &&
            fact(
              t.quote,
              <>
                <Copyable text={payment.quote.quote_id} /> · {t.lockedAt}{' '}
                <Time at={payment.quote.locked_at} /> · {t.lockSpread}{' '}
                {percentIn(language, payment.quote.spread_percent)}
              </>,
            ),
          payment.refunded &&
            fact(
              t.refunded,
              <>
                <Rub amount={payment.refunded.rub} /> = <Usdt amount={payment.refunded.usdt} />
              </>,
            ),
          [t.partner, <IdLink key="partner" id={payment.partner_id} text={payment.partner} />],
          [t.recipient, payment.recipient],
          [t.created, <Time key="created" at={payment.created_at} />],
          [t.settled, <Time key="settled" at={payment.settled_at} />],
          tookMs !== null && [t.took, <Duration key="took" ms={tookMs} />],
          payment.error_code &&
            fact(
              t.why,
              <>
                {wordIn(t.errors, payment.error_code)} <code>{payment.error_code}</code>
              </>,
            ),
          payment.support_since && [t.support, <Time key="support" at={payment.support_since} />],
          payment.status === 'processing' && [
            t.nextPoll,
            payment.is_under_way ? t.now : <Time key="next" at={payment.next_poll_at} as="clock" />,
          ],
          payment.paid_by && [t.paidBy, payment.paid_by],
          payment.external_id && [t.externalId, <Copyable key="ext" text={payment.external_id} />],
          [
            t.order,
            payment.gateway_order_id ? <Copyable key="order" text={payment.gateway_order_id} /> : '—',
          ],
          [t.qr, <Copyable key="qr" text={payment.qr_url} />],
          !payment.paid_by && [t.idempotencyKey, <Copyable key="key" text={payment.idempotency_key} />],
          payment.api_request_id && [
            t.apiRequest,
            <Link key="request" href={`/request-log${query({ request_id: payment.api_request_id })}`}>
              <code className="whole-line">{payment.api_request_id}</code>
            </Link>,
          ],
          payment.metadata &&
            payment.metadata !== '{}' && [t.metadata, <code key="meta">{payment.metadata}</code>],
        ]}
      />
    </Card>
  );
}

const fact = (name: string, value: React.ReactNode): Fact => [name, value];

function Actions({ detail, path }: { detail: PaymentDetail; path: string }) {
  const { payment, request, needs_second_operator } = detail;
  const t = useTexts(texts);
  const [resolving, setResolving] = useState<'succeeded' | 'failed' | null>(null);
  const { ask, asking } = useAsk(path);
  const why =
    payment.status_detail !== 'manual_review'
      ? t.notInReview
      : request
        ? t.alreadyAsked
        : payment.is_under_way
          ? t.underWay
          : undefined;
  return (
    <Group gap="xs">
      {payment.status === 'processing' && (
        <>
          <Action
            needs="payments.ask"
            why={payment.is_under_way ? t.underWay : undefined}
            loading={asking}
            onClick={() => void ask()}
          >
            {t.ask}
          </Action>
          <Action needs="payments.resolve" why={why} onClick={() => setResolving('succeeded')}>
            {t.succeed}
          </Action>
          <Action needs="payments.resolve" why={why} onClick={() => setResolving('failed')}>
            {t.fail}
          </Action>
        </>
      )}
      {resolving && (
        <Confirm
          title={resolving === 'succeeded' ? t.succeed : t.fail}
          says={
            <>
              <BalanceChange
                balance={detail.balance}
                effect={resolving === 'succeeded' ? 'debit' : 'return'}
                rub={payment.amount_rub}
                usdt={payment.amount_usdt}
              />
              <p className="to-whom dim">→ {payment.recipient}</p>
              <p>{resolving === 'succeeded' ? t.succeedSays : t.failSays}</p>
              {needs_second_operator && <p className="note">{t.secondOperator}</p>}
            </>
          }
          verb={resolving === 'succeeded' ? t.succeed : t.fail}
          danger={resolving === 'failed'}
          withReason
          run={reason =>
            send(`${path}/resolve`, {
              outcome: resolving,
              reason,
              expected_status_detail: payment.status_detail,
            })
          }
          onClose={() => setResolving(null)}
        />
      )}
    </Group>
  );
}

/** The facts of a timeline in one line. */
export const usePaymentFacts = () => useFactLine(useTexts(texts), ['usdt']);

function History({ items }: { items: TimelineItem[] }) {
  const t = useTexts(texts);
  const { actors } = useShared();
  return (
    <Timeline
      items={items}
      factsOf={usePaymentFacts()}
      whatOf={({ kind, what, actor, times }) => (
        <>
          <span className="timeline-kind">{t.kinds[kind]}</span>
          <strong>{wordIn(t.what, what)}</strong>
          {times > 1 && <span className="dim">{t.times(times)}</span>}
          {actor && <span className="dim">{t.by(wordIn(actors, actorName(actor)))}</span>}
        </>
      )}
      moreOf={({ at, last_at, gateway_call: call }) => (
        <>
          {last_at && (
            <p className="dim">
              {t.first} <Time at={at} as="short" /> · {t.last} <Time at={last_at} as="short" />
            </p>
          )}
          {call && (
            <details className="gateway-call">
              <summary>{t.show}</summary>
              <h3>{t.request}</h3>
              <pre>{pretty(call.request)}</pre>
              <h3>{t.response}</h3>
              {call.response === null ? (
                <p className="dim">{t.noResponse}</p>
              ) : (
                <pre>{pretty(call.response)}</pre>
              )}
            </details>
          )}
        </>
      )}
    />
  );
}

/** Polling the gateway changes nothing, so it needs no confirmation. */
export function useAsk(path: string) {
  const t = useTexts(texts);
  const { pending, run } = useRun();
  return { asking: pending, ask: () => run(() => send(`${path}/ask`), t.asked) };
}
