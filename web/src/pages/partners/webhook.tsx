import { Alert } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import type { AttemptRow } from '../../../../src/console/shapes.ts';
import type { CheckResult, EndpointRow } from '../../../../src/web/shapes.ts';
import { query, send } from '../../api.ts';
import { Action } from '../../parts/action.tsx';
import { Answer, Badge, State } from '../../parts/badge.tsx';
import { useRun } from '../../parts/notify.ts';
import { Card, Empty, Facts, KeysetTable, Rows } from '../../parts/page.tsx';
import { Count, Duration, IdLink, Time } from '../../parts/values.tsx';
import { useCheckTexts } from '../../texts/check.ts';
import { useTexts, wordIn } from '../../texts/index.ts';
import { AddEndpoint, EndpointActions, type EndpointProps } from './endpoint-actions.tsx';
import { texts } from './texts.ts';

interface Endpoints {
  partnerId: string;
  endpoints: EndpointRow[];
}

export function Webhook({ partnerId, endpoints, kinds }: Endpoints & { kinds: string[] }) {
  const t = useTexts(texts);
  if (endpoints.length === 0)
    return (
      <>
        <Empty title={t.noWebhook}>{t.noWebhookHint}</Empty>
        <AddEndpoint partnerId={partnerId} kinds={kinds} />
      </>
    );
  return (
    <>
      {endpoints.map(one => (
        <EndpointCard key={one.endpoint_id} partnerId={partnerId} endpoint={one} kinds={kinds} />
      ))}
      <AddEndpoint partnerId={partnerId} kinds={kinds} />
      <section>
        <h2 className="section-title">{t.log}</h2>
        <Log partnerId={partnerId} endpoints={endpoints} />
      </section>
    </>
  );
}

function EndpointCard({ partnerId, endpoint: webhook, kinds }: EndpointProps) {
  const t = useTexts(texts);
  const [result, setResult] = useState<CheckResult | null>(null);
  const { pending, run } = useRun();
  const { endpoint_id } = webhook;
  const check = () =>
    run(
      async () =>
        setResult(await send<CheckResult>(`/partners/${partnerId}/webhook/check${query({ endpoint_id })}`)),
      t.checked,
    );
  return (
    <>
      <Card
        title={webhook.mode ? t.endpointOf[webhook.mode] : t.webhook}
        side={
          <Action needs="webhooks.check" loading={pending} onClick={check}>
            {t.check}
          </Action>
        }
      >
        {webhook.state !== 'active' && (
          <Alert color="red" mb="md">
            {webhook.state === 'suspended' ? t.webhookSuspended : t.webhookFailing}{' '}
            <Link href={`/deliveries?partner_id=${partnerId}&state=pending`}>{t.toDeliveries}</Link>
          </Alert>
        )}
        <p className="card-lead wrap-anywhere">
          <span className="dim">{t.url}: </span>
          <code className={webhook.state === 'active' ? undefined : 'bad-text'}>{webhook.url}</code>
        </p>
        <Facts
          facts={[
            [t.state, <State key="state" state={webhook.state} />],
            [t.waitingEvents, <Count key="waiting" value={webhook.waiting} />],
            [t.givenUp, <Count key="given" value={webhook.given_up} />],
            [t.eventKinds, webhook.events.map(kind => wordIn(t.kinds, kind)).join(', ')],
            [t.ed25519, webhook.has_ed25519 ? t.on : t.off],
            [t.endpointId, <code key="id">{endpoint_id}</code>],
          ]}
        />
        <EndpointActions partnerId={partnerId} endpoint={webhook} kinds={kinds} />
      </Card>
      {result && <Checked result={result} />}
    </>
  );
}

/** The probes of the webhook check, and whether the receiver answered correctly. */
function Checked({ result }: { result: CheckResult }) {
  const t = useTexts(texts);
  const { probeOf, answerOf, problemOf } = useCheckTexts();
  const verdict = result.passed ? t.checkPassed : result.can_receive ? t.checkTrusts : t.checkCannot;
  return (
    <Card title={t.checkResult}>
      <Alert color={result.passed ? 'green' : result.can_receive ? 'yellow' : 'red'} mb="md" role="status">
        {verdict} {result.re_enabled && t.reEnabled}
      </Alert>
      <Rows
        label={t.checkResult}
        rows={result.results}
        keyOf={one => one.name}
        columns={[
          { head: t.probe, cell: probeOf },
          { head: t.expected, cell: one => t.expectations[one.expected] },
          { head: t.response, cell: answerOf },
          { head: t.took, right: true, cell: one => <Duration ms={one.duration_ms} /> },
          {
            head: t.verdict,
            cell: one => (
              <>
                <Badge tone={one.passed ? 'good' : 'bad'}>{one.passed ? t.passed : t.notPassed}</Badge>
                {!one.passed && <span className="under">{problemOf(one)}</span>}
              </>
            ),
          },
        ]}
      />
    </Card>
  );
}

function Log({ partnerId, endpoints }: Endpoints) {
  const t = useTexts(texts);
  const urlOf = (row: AttemptRow) =>
    endpoints.find(one => one.endpoint_id === row.endpoint_id)?.url ?? t.removedEndpoint;
  return (
    <KeysetTable<AttemptRow>
      label={t.log}
      path={`/partners/${partnerId}/deliveries`}
      everyMs={5000}
      keyOf={row => `${row.event_id} ${row.endpoint_id} ${row.attempt} ${row.at}`}
      empty={<Empty title={t.noDeliveries}>{t.noDeliveriesHint}</Empty>}
      columns={[
        { head: t.at, cell: row => <Time as="short" at={row.at} /> },
        { head: t.response, cell: row => <Answer status={row.status} error={row.error} /> },
        { head: t.attempt, right: true, cell: row => <Count value={row.attempt} /> },
        { head: t.took, right: true, wideOnly: true, cell: row => <Duration ms={row.duration_ms} /> },
        {
          head: t.event,
          cell: row => (
            <>
              <code>{row.event_id}</code>
              {endpoints.length > 1 && <span className="under wrap-anywhere">{urlOf(row)}</span>}
            </>
          ),
        },
        { head: t.payment, cell: row => <IdLink id={row.payment_id} /> },
        { head: t.actions, right: true, cell: row => <Resend partnerId={partnerId} row={row} /> },
      ]}
    />
  );
}

function Resend({ partnerId, row }: { partnerId: string; row: AttemptRow }) {
  const { event_id, endpoint_id } = row;
  const t = useTexts(texts);
  const { pending, run } = useRun();
  return (
    <Action
      needs="events.resend"
      loading={pending}
      onClick={() =>
        run(
          () => send(`/events/${event_id}/resend${query({ partner_id: partnerId, endpoint_id })}`),
          t.resent,
        )
      }
    >
      {t.resend}
    </Action>
  );
}
