import { useState } from 'react';
import { useLocation } from 'wouter';
import type { ReconciliationRow } from '../../../../src/console/shapes/controls.ts';
import { send } from '../../api.ts';
import { Action } from '../../parts/action.tsx';
import { Badge, State } from '../../parts/badge.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { UtcDayInput } from '../../parts/fields.tsx';
import { Empty, KeysetTable, PageFrame } from '../../parts/page.tsx';
import { actorName, Count, Day, Time } from '../../parts/values.tsx';
import { useShared, useTexts, wordIn } from '../../texts/index.ts';
import { LostHistory } from './lost-history.tsx';
import { texts } from './texts.ts';

export function Runs() {
  const t = useTexts(texts);
  const shared = useShared();
  const [starting, setStarting] = useState(false);
  return (
    <PageFrame
      title={shared.nav.reconciliation}
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
        queryKey={['reconciliations']}
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
          { head: t.by, wideOnly: true, cell: run => wordIn(shared.actors, actorName(run.actor)) },
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
      <Time as="short" at={from} /> – <Time as="short" at={until} />
    </>
  );
}

export function Result({ run }: { run: ReconciliationRow }) {
  const t = useTexts(texts);
  if (!run.finished_at) return <State state="running" />;
  if (!run.is_complete) return <Badge tone="bad">{t.differAtLeast(run.differences ?? 0)}</Badge>;
  if (run.differences === 0) return <State state="ok" />;
  return <Badge tone="bad">{t.differ(run.differences ?? 0)}</Badge>;
}

const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);

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
      <UtcDayInput label={t.day} required value={day} onChange={setDay} data-autofocus />
    </Confirm>
  );
}
