import { Button } from '@mantine/core';
import { useState } from 'react';
import { Route, Switch } from 'wouter';
import type { DeliveryRow } from '../../../src/console/shapes.ts';
import { query } from '../api.ts';
import { Action } from '../parts/action.tsx';
import { LastAnswer, Owner, State } from '../parts/badge.tsx';
import { ClearFilters, FilterFields, NoneFound, useFilters } from '../parts/filters.tsx';
import { type Column, KeysetTable, PageFrame } from '../parts/page.tsx';
import { PartnerField } from '../parts/partner-field.tsx';
import { PeriodFields, timesOf } from '../parts/period.tsx';
import { ResendFailedDialog } from '../parts/resend-failed.tsx';
import { Count, IdLink, Middle, ShortId, Time } from '../parts/values.tsx';
import { useTexts, wordIn } from '../texts/index.ts';
import { resendTexts } from '../texts/resend.ts';
import { OneDelivery, ResendDialog } from './deliveries/delivery.tsx';
import { texts } from './deliveries/texts.ts';

export default function Deliveries() {
  return (
    <Switch>
      <Route path="/deliveries" component={DeliveryList} />
      <Route path="/deliveries/:partner/:event">
        {({ partner, event }) => <OneDelivery key={event} partnerId={partner} eventId={event} />}
      </Route>
    </Switch>
  );
}

const names = ['state', 'event', 'mode', 'partner_id', 'period', 'created_after', 'created_before'] as const;
type Filters = ReturnType<typeof useFilters<(typeof names)[number]>>;

const keyOf = ({ event_id, endpoint_id }: DeliveryRow) => `${event_id} ${endpoint_id}`;

export function DeliveryList() {
  const t = useTexts(texts);
  const of = useFilters(names);
  const [chosen, setChosen] = useState<ReadonlyMap<string, DeliveryRow>>(new Map());
  const choose = (row: DeliveryRow, isChosen: boolean) => {
    const next = new Map(chosen);
    if (isChosen) next.set(keyOf(row), row);
    else next.delete(keyOf(row));
    setChosen(next);
  };
  const { period, created_after, created_before, ...rest } = of.filters;
  const { from, until } = timesOf({ period, created_after, created_before }, 'UTC');
  const asked = { ...rest, since: from, until };
  return (
    <PageFrame title={t.nav.deliveries} lead={t.lead}>
      <Fields of={of} />
      <KeysetTable<DeliveryRow>
        label={t.nav.deliveries}
        path={`/deliveries${query(asked)}`}
        everyMs={5000}
        columns={useColumns(chosen, choose)}
        keyOf={keyOf}
        hrefOf={row =>
          `/deliveries/${row.partner_id}/${row.event_id}${query({ endpoint_id: row.endpoint_id })}`
        }
        above={() => (
          <Selection chosen={[...chosen.values()]} asked={asked} onNone={() => setChosen(new Map())} />
        )}
        empty={<NoneFound of={of} t={t} />}
      />
    </PageFrame>
  );
}

function useColumns(
  chosen: ReadonlyMap<string, DeliveryRow>,
  onChoose: (row: DeliveryRow, isChosen: boolean) => void,
): Column<DeliveryRow>[] {
  const t = useTexts(texts);
  return [
    {
      head: t.event,
      cell: row => (
        <>
          <code>{row.event_id}</code>
          <span className="under">{wordIn(t.events, row.event)}</span>
        </>
      ),
    },
    { head: t.state, cell: row => <State state={row.state} words={t.states} /> },
    {
      head: t.partner,
      cell: row => (
        <>
          <Owner of={row} />
          {row.endpoint && <span className="under wrap-anywhere">{row.endpoint.url}</span>}
          {row.endpoint && row.endpoint.state !== 'active' && <State state={row.endpoint.state} />}
        </>
      ),
    },
    {
      head: t.payment,
      cell: row => (
        <>
          <IdLink id={row.payment_id} text={<ShortId id={row.payment_id} />} />
          {row.external_id !== null && (
            <span className="under">
              <Middle text={row.external_id} />
            </span>
          )}
        </>
      ),
    },
    {
      head: t.answer,
      cell: row => <LastAnswer of={row.last_attempt} />,
    },
    { head: t.created, cell: row => <Time at={row.event_at} as="short" /> },
    {
      head: t.attempts,
      cell: row => (
        <>
          <Count value={row.attempts} />
          {row.next_attempt_at && (
            <span className="under">
              {t.nextAt} <Time at={row.next_attempt_at} as="short" />
            </span>
          )}
        </>
      ),
    },
    {
      head: t.select,
      cell: row => (
        <input
          type="checkbox"
          className="select-row"
          aria-label={t.selectOne(row.event_id)}
          checked={chosen.has(keyOf(row))}
          onChange={event => onChoose(row, event.currentTarget.checked)}
        />
      ),
    },
  ];
}

interface SelectionProps {
  chosen: DeliveryRow[];
  /** What the list is filtered by. */
  asked: Record<string, string>;
  onNone: () => void;
}

/** All that failed and match the filters, also those that are not on the page; or the chosen ones. */
function Selection({ chosen, asked, onNone }: SelectionProps) {
  const t = useTexts(texts);
  const { allFailed, many } = useTexts(resendTexts);
  const [sending, setSending] = useState<'all' | 'chosen' | null>(null);
  const { state: _, ...filters } = asked;
  return (
    <div className="selection">
      <Action needs="events.resend" onClick={() => setSending('all')}>
        {allFailed}
      </Action>
      {chosen.length > 0 && (
        <>
          <Button size="xs" variant="default" onClick={onNone}>
            {t.selectNone}
          </Button>
          <Action needs="events.resend" variant="filled" onClick={() => setSending('chosen')}>
            {many(chosen.length)}
          </Action>
        </>
      )}
      <span className="dim" role="status">
        {chosen.length > 0 && t.selected(chosen.length)}
      </span>
      {sending === 'all' && (
        <ResendFailedDialog path="/deliveries" filters={filters} onClose={() => setSending(null)} />
      )}
      {sending === 'chosen' && (
        <ResendDialog
          chosen={chosen}
          onClose={all => {
            setSending(null);
            if (all) onNone();
          }}
        />
      )}
    </div>
  );
}

function Fields({ of }: { of: Filters }) {
  const t = useTexts(texts);
  const { apply } = of;
  const { pending, delivered, failed } = t.states;
  return (
    <search className="filters">
      <FilterFields
        draft={of.filters}
        set={apply}
        setNow={apply}
        fields={[
          { name: 'state', label: t.state, words: { pending, delivered, failed } },
          ({ partner_id }) => (
            <PartnerField partnerId={partner_id} onChoose={partner_id => apply({ partner_id })} />
          ),
          { name: 'event', label: t.event, words: t.events },
          { name: 'mode', label: t.mode, words: t.modes },
          draft => <PeriodFields value={draft} onChoose={apply} onTimes={apply} />,
        ]}
      />
      <ClearFilters of={of} />
    </search>
  );
}
