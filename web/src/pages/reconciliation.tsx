import { Alert } from '@mantine/core';
import { useState } from 'react';
import { Link, Route, Switch, useLocation } from 'wouter';
import type { ReconciliationDetail, ReconciliationRow } from '../../../src/console/shapes.ts';
import { send } from '../api.ts';
import { Action } from '../parts/action.tsx';
import { Badge, State } from '../parts/badge.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { DayInput } from '../parts/fields.tsx';
import { Card, Empty, Facts, KeysetTable, Loaded, PageFrame, Rows, useLive } from '../parts/page.tsx';
import { actorName, Count, Day, dayOf, Rub, Time } from '../parts/values.tsx';
import { useTexts, wordIn } from '../texts/index.ts';
import { LostHistory } from './reconciliation/lost-history.tsx';
import { texts } from './reconciliation/texts.ts';

export default function Reconciliation() {
  return (
    <Switch>
      <Route path="/reconciliation/:id">{({ id }) => <OneRun key={id} runId={id} />}</Route>
      <Route component={Runs} />
    </Switch>
  );
}

export function Runs() {
  const t = useTexts(texts);
  const [starting, setStarting] = useState(false);
  return (
    <PageFrame
      title={t.nav.reconciliation}
      lead={t.lead}
      actions={
        <Action needs="reconciliation.run" variant="filled" onClick={() => setStarting(true)}>
          {t.start}
        </Action>
      }
    >
      <LostHistory />
      <KeysetTable<ReconciliationRow>
        label={t.runs}
        path="/reconciliations"
        everyMs={5000}
        keyOf={run => run.run_id}
        hrefOf={run => `/reconciliation/${run.run_id}`}
        empty={<Empty title={t.none}>{t.noneHint}</Empty>}
        columns={[
          { head: t.period, cell: run => <Period run={run} /> },
          { head: t.result, cell: run => <Result run={run} /> },
          { head: t.orders, right: true, cell: run => <Count value={run.orders} /> },
          { head: t.payments, right: true, cell: run => <Count value={run.payments} /> },
          { head: t.startedAt, cell: run => <Time as="short" at={run.started_at} /> },
          { head: t.by, wideOnly: true, cell: run => wordIn(t.actors, actorName(run.actor)) },
        ]}
      />
      {starting && <Start onClose={() => setStarting(false)} />}
    </PageFrame>
  );
}

export function Period({ run: { from, until } }: { run: ReconciliationRow }) {
  const isDay = from.endsWith('T00:00:00.000Z') && Date.parse(until) - Date.parse(from) === 86_400_000;
  if (isDay) return <Day day={from.slice(0, 10)} />;
  return (
    <>
      <Moment at={from} /> – <Moment at={until} />
    </>
  );
}

/** Always with its day: a period may begin on one and end on another. */
const Moment = ({ at }: { at: string }) => (
  <>
    <Day day={at.slice(0, 10)} /> <Time as="clock" at={at} />
  </>
);

/** Red only if something differs; what is not finished, here or in the run itself, is amber. */
export function Result({ run }: { run: ReconciliationRow }) {
  const t = useTexts(texts);
  if (!run.finished_at) return <State state="running" />;
  const { unfinished, is_complete } = run;
  const differences = (run.differences ?? 0) - unfinished;
  if (differences === 0 && unfinished === 0 && is_complete) return <State state="ok" />;
  return (
    <span className="inline">
      {differences > 0 && (
        <Badge tone="bad">{is_complete ? t.differ(differences) : t.differAtLeast(differences)}</Badge>
      )}
      {unfinished > 0 && <Badge tone="warn">{t.unfinished(unfinished)}</Badge>}
      {differences === 0 && !is_complete && <Badge tone="warn">{t.incompleteRun}</Badge>}
    </span>
  );
}

function Start({ onClose }: { onClose: () => void }) {
  const t = useTexts(texts);
  const [, go] = useLocation();
  const [day, setDay] = useState(() => dayOf(Date.now() - 86_400_000));
  const today = dayOf(Date.now());
  return (
    <Confirm
      title={t.start}
      says={t.startSays}
      verb={t.startVerb}
      ready={/^\d{4}-\d\d-\d\d$/.test(day) && day <= today}
      run={() => send<ReconciliationRow>('/reconciliations', { day })}
      onDone={run => go(`/reconciliation/${(run as ReconciliationRow).run_id}`)}
      onClose={onClose}
    >
      <DayInput label={t.day} required value={day} onChange={setDay} data-autofocus />
    </Confirm>
  );
}

type Difference = ReconciliationDetail['differences'][number];

/** The gateway has paid it, and here it is open: its partner still waits for an outcome that is known. */
const isPaidThere = ({ kind, order_state }: Difference) =>
  kind === 'still_open' && order_state === 'succeeded';

const kindOf = (one: Difference) => (isPaidThere(one) ? 'paid_there_open_here' : one.kind);

/** What is only unfinished comes last. */
const places = { paid_there_open_here: 0, still_open: 2 } as Record<string, number>;
const placeOf = (one: Difference) => places[kindOf(one)] ?? 1;

export function OneRun({ runId }: { runId: string }) {
  const t = useTexts(texts);
  const read = useLive<ReconciliationDetail>(`/reconciliations/${runId}`, 3000);
  const run = read.data?.run;
  const differences = (read.data?.differences ?? []).toSorted((a, b) => placeOf(a) - placeOf(b));
  const paidThere = differences.filter(isPaidThere).length;
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
                [t.by, wordIn(t.actors, actorName(run.actor))],
              ]}
            />
          </Card>
          {paidThere > 0 && (
            <Alert color="red" role="alert" title={t.paidThere(paidThere)}>
              {t.paidThereHint}
            </Alert>
          )}
          {!run.is_complete && (
            <Alert color="yellow" role="alert" title={t.incomplete}>
              {t.incompleteHint}
            </Alert>
          )}
          <Rows<Difference>
            label={t.differences}
            rows={differences}
            keyOf={one => `${one.kind} ${one.payment_id} ${one.order_id}`}
            empty={<NoDifference run={run} />}
            columns={[
              {
                head: t.kind,
                cell: one => (
                  <span title={wordIn(t.meanings, kindOf(one))}>
                    <Badge tone={kindOf(one) === 'still_open' ? 'warn' : 'bad'}>
                      {wordIn(t.kinds, kindOf(one))}
                    </Badge>
                  </span>
                ),
              },
              { head: t.payment, cell: one => <PaymentId one={one} /> },
              { head: t.here, cell: one => (one.status ? wordIn(t.states, one.status) : t.unknown) },
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
