import { Button } from '@mantine/core';
import { Link, useSearchParams } from 'wouter';
import type { DeliveryDetail } from '../../../../src/web/shapes.ts';
import { query, send } from '../../api.ts';
import { Answer, State } from '../../parts/badge.tsx';
import { Body } from '../../parts/body.tsx';
import { useRun } from '../../parts/notify.ts';
import { Card, Facts, Loaded, PageFrame, useLive } from '../../parts/page.tsx';
import { Copyable, Duration, ShortId, Time } from '../../parts/values.tsx';
import { usePartner } from '../partner.ts';
import { useTexts, wordIn } from '../texts/index.ts';
import { texts } from './webhook.texts.ts';

export default function Delivery({ eventId }: { eventId: string }) {
  const t = useTexts(texts);
  const { api } = usePartner();
  const [params] = useSearchParams();
  const endpoint_id = params.get('endpoint_id') ?? undefined;
  const path = api(`/deliveries/${eventId}`);
  const { pending, run } = useRun();
  const read = useLive<DeliveryDetail>(path + query({ endpoint_id }), 5000);
  const { data } = read;
  return (
    <PageFrame
      title={eventId}
      badge={data && <State state={data.delivery.state} words={t.states} />}
      lead={<Link href="/deliveries">{t.allDeliveries}</Link>}
      actions={
        data && (
          <Button
            size="xs"
            loading={pending}
            onClick={() =>
              run(() => send(`${path}/resend`, { endpoint_id: data.delivery.endpoint_id }), t.resent)
            }
          >
            {t.resend}
          </Button>
        )
      }
    >
      <Loaded of={read} />
      {data && <Details detail={data} />}
    </PageFrame>
  );
}

function Details({ detail: { delivery, request, attempts } }: { detail: DeliveryDetail }) {
  const t = useTexts(texts);
  return (
    <>
      <Card>
        <Facts
          facts={[
            [t.event, wordIn(t.eventNames, delivery.event)],
            delivery.external_id && [t.externalId, <Copyable key="order" text={delivery.external_id} />],
            [t.at, <Time key="at" at={delivery.event_at} />],
            [
              t.payment,
              <Link key="payment" href={`/payments/${delivery.payment_id}`}>
                <ShortId id={delivery.payment_id} />
              </Link>,
            ],
            [t.next, <Time key="next" at={delivery.next_attempt_at} />],
          ]}
        />
      </Card>
      <Card title={t.attempts}>
        {attempts.length === 0 && <p className="dim">—</p>}
        <ul className="portal-notices">
          {attempts.map(attempt => (
            <li key={attempt.at}>
              <div className="between">
                <span className="inline">
                  {t.attempt(attempt.attempt)}
                  <Answer status={attempt.http_status} error={attempt.error} />
                </span>
                <span className="dim">
                  <Duration ms={attempt.duration_ms} /> · <Time at={attempt.at} as="short" />
                </span>
              </div>
              {attempt.response_body !== null && (
                <details className="gateway-call">
                  <summary>{t.responseBody}</summary>
                  <Body text={attempt.response_body} label={t.responseBody} />
                </details>
              )}
            </li>
          ))}
        </ul>
      </Card>
      <Card title={t.body}>
        <Body text={request.body} label={t.body} />
      </Card>
      <Card title={t.headers}>
        <Facts facts={Object.entries(request.headers)} />
        <p className="dim">{t.noSignature}</p>
      </Card>
    </>
  );
}
