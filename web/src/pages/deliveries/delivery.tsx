import { Alert } from '@mantine/core';
import { useState } from 'react';
import { Link, useSearchParams } from 'wouter';
import type { DeliveryDetail, DeliveryRow } from '../../../../src/console/shapes.ts';
import { query, send } from '../../api.ts';
import { Action } from '../../parts/action.tsx';
import { Answer, State, TestMark } from '../../parts/badge.tsx';
import { BatchDialog, type Report } from '../../parts/batch-dialog.tsx';
import { Body } from '../../parts/body.tsx';
import { Card, Empty, Facts, Failure, Loaded, PageFrame, Rows, useLive } from '../../parts/page.tsx';
import { Copyable, Count, Duration, IdLink, Time } from '../../parts/values.tsx';
import { useTexts, wordIn } from '../../texts/index.ts';
import { resendTexts } from '../../texts/resend.ts';
import { texts } from './texts.ts';

/** One delivery: what is sent, and what came back on each attempt. */
export function OneDelivery({ partnerId, eventId }: { partnerId: string; eventId: string }) {
  const t = useTexts(texts);
  const [params] = useSearchParams();
  const endpoint_id = params.get('endpoint_id') ?? '';
  const [isSending, setSending] = useState(false);
  const path = `/deliveries/${encodeURIComponent(partnerId)}/${encodeURIComponent(eventId)}${query({ endpoint_id })}`;
  const found = useLive<DeliveryDetail>(path, 5000);
  if (!found.data)
    return (
      <PageFrame title={t.delivery} lead={<code>{eventId}</code>}>
        <Loaded of={found} />
      </PageFrame>
    );
  const { delivery, request, attempts } = found.data;
  return (
    <PageFrame
      title={t.delivery}
      badge={
        <>
          <State state={delivery.state} words={t.states} />
          <TestMark mode={delivery.mode} />
        </>
      }
      lead={<Copyable text={delivery.event_id} />}
      actions={
        <Action needs="events.resend" onClick={() => setSending(true)}>
          {t.resend}
        </Action>
      }
    >
      <div className="stack">
        {found.isError && <Failure error={found.error} />}
        <DeliveryFacts delivery={delivery} />
        <Card title={t.attempts}>
          <AttemptRows attempts={attempts} />
        </Card>
        <RequestCard request={request} />
      </div>
      {isSending && <ResendDialog chosen={[delivery]} onClose={() => setSending(false)} />}
    </PageFrame>
  );
}

function DeliveryFacts({ delivery }: Pick<DeliveryDetail, 'delivery'>) {
  const t = useTexts(texts);
  const { endpoint } = delivery;
  const isBad = endpoint !== null && endpoint.state !== 'active';
  return (
    <Card title={t.event}>
      {isBad && (
        <Alert color="red" mb="md">
          {wordIn(t.endpointStates, endpoint.state)}{' '}
          <Link href={`/partners/${delivery.partner_id}/webhook`}>{t.toPartner}</Link>
        </Alert>
      )}
      <Facts
        facts={[
          [t.event, wordIn(t.events, delivery.event)],
          [t.created, <Time key="at" at={delivery.event_at} />],
          [t.partner, <IdLink key="partner" id={delivery.partner_id} text={delivery.partner} />],
          [t.attempts, <Count key="attempts" value={delivery.attempts} />],
          [t.next, <Time key="next" at={delivery.next_attempt_at} />],
          [
            t.payment,
            <IdLink
              key="payment"
              id={delivery.payment_id}
              text={<code className="wrap-anywhere">{delivery.payment_id}</code>}
            />,
          ],
          delivery.external_id && [t.externalId, <Copyable key="external" text={delivery.external_id} />],
          [
            t.endpoint,
            endpoint ? (
              <code key="url" className={isBad ? 'wrap-anywhere bad-text' : 'wrap-anywhere'}>
                {endpoint.url}
              </code>
            ) : (
              t.noEndpoint
            ),
          ],
        ]}
      />
    </Card>
  );
}

function AttemptRows({ attempts }: Pick<DeliveryDetail, 'attempts'>) {
  const t = useTexts(texts);
  return (
    <Rows
      label={t.attempts}
      rows={attempts}
      keyOf={one => `${one.attempt} ${one.at}`}
      empty={<Empty title={t.noAttempts} />}
      columns={[
        { head: t.attempt, cell: one => <Count value={one.attempt} /> },
        { head: t.at, cell: one => <Time at={one.at} /> },
        {
          head: t.response,
          cell: one => (
            <>
              <Answer status={one.http_status} error={one.error} />
              {one.response_body !== null && (
                <details className="gateway-call">
                  <summary>{t.responseBody}</summary>
                  <Body text={one.response_body} label={t.responseBody} />
                </details>
              )}
            </>
          ),
        },
        { head: t.took, right: true, cell: one => <Duration ms={one.duration_ms} /> },
      ]}
    />
  );
}

/** The signature depends on the time of the attempt and on the secret, and is not stored. */
function RequestCard({ request: { headers, body } }: Pick<DeliveryDetail, 'request'>) {
  const t = useTexts(texts);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return (
    <Card title={t.request}>
      <h3 className="card-lead">{t.headers}</h3>
      <pre>{[...lines, `x-service-signature: (${t.signature})`].join('\n')}</pre>
      <h3 className="card-lead card-foot">{t.body}</h3>
      <Body text={body} label={t.body} />
    </Card>
  );
}

export type Chosen = Pick<DeliveryRow, 'event_id' | 'partner_id' | 'endpoint_id'>;

/** Queues the chosen events one after the other. Open while it is mounted. */
export function ResendDialog({ chosen, onClose }: { chosen: Chosen[]; onClose: (all: boolean) => void }) {
  const t = useTexts(texts);
  const { many } = useTexts(resendTexts);

  async function run(report: (now: Report) => void, isStopped: () => boolean) {
    const now: Report = { done: 0, failures: 0, error: null };
    for (const { event_id, partner_id, endpoint_id } of chosen) {
      if (isStopped()) break;
      try {
        await send(`/events/${event_id}/resend${query({ partner_id, endpoint_id })}`);
        now.done += 1;
      } catch (error) {
        now.failures += 1;
        now.error ??= error;
      }
      report(now);
    }
  }

  return (
    <BatchDialog
      title={t.resend}
      says={<p>{t.resendSays(chosen.length)}</p>}
      verb={many(chosen.length)}
      of={chosen.length}
      run={run}
      onClose={onClose}
    />
  );
}
