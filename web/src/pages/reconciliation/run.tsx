import { Alert } from '@mantine/core';
import { Link } from 'wouter';
import type { ReconciliationDetail } from '../../../../src/console/shapes/controls.ts';
import { Badge } from '../../parts/badge.tsx';
import { Card, Empty, Facts, Loaded, PageFrame, Rows, useLive } from '../../parts/page.tsx';
import { actorName, Count, Rub, Time } from '../../parts/values.tsx';
import { useShared, useTexts, wordIn } from '../../texts/index.ts';
import { Period, Result } from './runs.tsx';
import { texts } from './texts.ts';

type Difference = ReconciliationDetail['differences'][number];

export function OneRun({ runId }: { runId: string }) {
  const t = useTexts(texts);
  const shared = useShared();
  const read = useLive<ReconciliationDetail>(['reconciliation', runId], `/reconciliations/${runId}`, 3000);
  const run = read.data?.run;
  return (
    <PageFrame
      title={`${t.run} ${runId}`}
      badge={run && <Result run={run} />}
      lead={<Link href="/reconciliation">{t.allRuns}</Link>}
    >
      <Loaded of={read} />
      {read.data && run && (
        <div className="stack">
          <Card>
            <Facts
              facts={[
                [t.period, <Period key="period" run={run} />],
                [t.orders, <Count key="orders" value={run.orders} />],
                [t.payments, <Count key="payments" value={run.payments} />],
                [t.startedAt, <Time key="started" as="short" at={run.started_at} />],
                [
                  t.finishedAt,
                  run.finished_at ? <Time key="finished" as="short" at={run.finished_at} /> : t.underWay,
                ],
                [t.by, wordIn(shared.actors, actorName(run.actor))],
              ]}
            />
          </Card>
          {!run.is_complete && (
            <Alert color="yellow" role="alert" title={t.incomplete}>
              {t.incompleteHint}
            </Alert>
          )}
          <Rows<Difference>
            label={t.differences}
            rows={read.data.differences}
            keyOf={one => `${one.kind} ${one.payment_id} ${one.order_id}`}
            empty={<NoDifference run={run} />}
            columns={[
              {
                head: t.kind,
                cell: one => (
                  <span title={wordIn(t.meanings, one.kind)}>
                    <Badge tone={one.kind === 'still_open' ? 'open' : 'bad'}>
                      {wordIn(t.kinds, one.kind)}
                    </Badge>
                  </span>
                ),
              },
              { head: t.payment, cell: one => <PaymentId one={one} /> },
              { head: t.here, cell: one => (one.status ? wordIn(shared.states, one.status) : t.unknown) },
              { head: t.amountHere, right: true, cell: one => <Rub bare amount={one.amount_rub} /> },
              { head: t.order, cell: one => <code className="wrap-anywhere">{one.order_id ?? '—'}</code> },
              {
                head: t.there,
                cell: one => (one.order_state ? wordIn(t.orderStates, one.order_state) : t.unknown),
              },
              { head: t.amountThere, right: true, cell: one => <Rub bare amount={one.order_rub} /> },
            ]}
          />
        </div>
      )}
    </PageFrame>
  );
}

function NoDifference({ run }: { run: ReconciliationDetail['run'] }) {
  const t = useTexts(texts);
  if (!run.finished_at) return <Empty title={t.underWay} />;
  return run.is_complete ? <Empty title={t.agree}>{t.agreeHint}</Empty> : <Empty title={t.incomplete} />;
}

/** A payment that only the gateway has is not a link. */
function PaymentId({ one: { payment_id, status } }: { one: Difference }) {
  if (!payment_id) return <span className="dim">—</span>;
  const id = <code className="wrap-anywhere">{payment_id}</code>;
  return status ? <Link href={`/payments/${payment_id}`}>{id}</Link> : id;
}
