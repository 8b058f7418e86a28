import { Alert, Button, Group, Modal, Stack } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { Link, useSearchParams } from 'wouter';
import type { DeliveryDetail, DeliveryRow } from '../../../../src/console/shapes.ts';
import { query, send } from '../../api.ts';
import { Action } from '../../parts/action.tsx';
import { Answer, State, TestMark } from '../../parts/badge.tsx';
import { Card, Empty, Facts, Failure, Loaded, PageFrame, Rows, useLive } from '../../parts/page.tsx';
import { Copyable, Count, Duration, IdLink, Time } from '../../parts/values.tsx';
import { useSentence, useTexts, wordIn } from '../../texts/index.ts';
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
        { head: t.response, cell: one => <Answer status={one.http_status} error={one.error} /> },
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
      <pre>{body}</pre>
    </Card>
  );
}

export type Chosen = Pick<DeliveryRow, 'event_id' | 'partner_id' | 'endpoint_id'>;

interface Progress {
  done: number;
  failures: number;
  error: unknown;
  isRunning: boolean;
}

/** Queues the chosen events one after the other, and shows how far it is. Open while it is mounted. */
export function ResendDialog({ chosen, onClose }: { chosen: Chosen[]; onClose: (all: boolean) => void }) {
  const t = useTexts(texts);
  const sentence = useSentence();
  const queries = useQueryClient();
  const [progress, setProgress] = useState<Progress | null>(null);
  const isStopped = useRef(false);

  async function run() {
    const now: Progress = { done: 0, failures: 0, error: null, isRunning: true };
    setProgress({ ...now });
    for (const { event_id, partner_id, endpoint_id } of chosen) {
      if (isStopped.current) break;
      try {
        await send(`/events/${event_id}/resend${query({ partner_id, endpoint_id })}`);
        now.done += 1;
      } catch (error) {
        now.failures += 1;
        now.error ??= error;
      }
      setProgress({ ...now });
    }
    setProgress({ ...now, isRunning: false });
    void queries.invalidateQueries();
  }

  const isRunning = progress?.isRunning ?? false;
  const close = () => {
    if (!isRunning) onClose(progress?.done === chosen.length);
  };
  return (
    <Modal opened onClose={close} title={t.resend} closeButtonProps={{ 'aria-label': t.close }}>
      <Stack gap="md">
        <p>{t.resendSays(chosen.length)}</p>
        {progress && (
          <div role="status">
            <progress
              className="progress"
              max={chosen.length}
              value={progress.done + progress.failures}
              aria-label={t.resend}
            />
            <p>{t.resendProgress(progress.done, chosen.length)}</p>
          </div>
        )}
        {progress && progress.failures > 0 && (
          <Alert color="red" role="alert">
            {t.resendFailed(progress.failures)} {sentence(progress.error)}
          </Alert>
        )}
        <Group justify="flex-end" gap="sm">
          {isRunning ? (
            <Button
              variant="default"
              onClick={() => {
                isStopped.current = true;
              }}
            >
              {t.resendStop}
            </Button>
          ) : (
            <Button variant="default" onClick={close}>
              {progress ? t.done : t.cancel}
            </Button>
          )}
          {(!progress || isRunning) && (
            <Button loading={isRunning} onClick={() => void run()} data-autofocus>
              {t.resendMany(chosen.length)}
            </Button>
          )}
        </Group>
      </Stack>
    </Modal>
  );
}
