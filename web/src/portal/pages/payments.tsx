import { Button, NativeSelect } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useSearchParams } from 'wouter';
import type { PaymentRow, PaymentTotals } from '../../../../src/portal/shapes/payments.ts';
import { query } from '../../api.ts';
import { State } from '../../parts/badge.tsx';
import { Download } from '../../parts/download.tsx';
import { Rub, Usdt } from '../../parts/money.tsx';
import { PageFrame } from '../../parts/page.tsx';
import { PeriodFields, timesOf } from '../../parts/period.tsx';
import { useLive } from '../../parts/polling.ts';
import { SearchField } from '../../parts/search-field.tsx';
import { Middle, Name, ShortId } from '../../parts/short.tsx';
import { Empty } from '../../parts/states.tsx';
import { type Column, KeysetTable } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { useCommon } from '../../texts/common.ts';
import { useTexts } from '../../texts/language.ts';
import { type Mode, useMode, usePartner } from '../partner.ts';
import { usePortal } from '../texts/index.ts';
import { texts } from './payments.texts.ts';

const names = ['q', 'status', 'period', 'created_after', 'created_before'] as const;
type Filters = Record<(typeof names)[number], string>;
const nothing = Object.fromEntries(names.map(name => [name, ''])) as Filters;

/** The filters are in the URL, so that a search can be shared. */
export default function Payments() {
  const t = useTexts(texts);
  const portal = usePortal();
  const { api } = usePartner();
  const mode = useMode();
  const [params, setParams] = useSearchParams();
  const filters = Object.fromEntries(names.map(name => [name, params.get(name) ?? ''])) as Filters;
  const isFiltered = names.some(name => filters[name]);
  const given = query(asked(filters, mode));
  const apply = (change: Partial<Filters>) =>
    setParams(Object.fromEntries(Object.entries({ ...filters, ...change }).filter(([, value]) => value)));
  return (
    <PageFrame
      title={portal.nav.payments}
      actions={<Download path={api(`/payments/export${given}`)} label={t.csv} />}
    >
      <FilterForm filters={filters} apply={apply} />
      <Totals path={api(`/payments/totals${given}`)} />
      <KeysetTable<PaymentRow>
        label={portal.nav.payments}
        queryKey={['payments']}
        path={api(`/payments${given}`)}
        everyMs={5000}
        columns={useColumns()}
        keyOf={row => row.payment_id}
        hrefOf={row => `/payments/${row.payment_id}`}
        empty={
          <Empty title={isFiltered ? t.none : t.noneYet}>{isFiltered ? t.noneHint : t.noneYetHint}</Empty>
        }
      />
    </PageFrame>
  );
}

function asked({ period, created_after, created_before, ...rest }: Filters, mode: Mode) {
  const { from, until } = timesOf({ period, created_after, created_before });
  return { ...rest, mode, created_after: from, created_before: until };
}

/** The sums of all payments that match the filters, not only of those on the page. */
function Totals({ path }: { path: string }) {
  const t = useTexts(texts);
  const { data } = useLive<PaymentTotals>(['payment totals', path], path, 20_000);
  if (!data || data.totals.length === 0) return null;
  return (
    <section className="totals" aria-label={t.totals}>
      <ul>
        {data.totals.map(({ state, count, rub, usdt }) => (
          <li key={state}>
            <State state={state} />
            <span className="number">{t.payments(count)}</span>
            <Rub amount={rub} />
            <span className="dim">
              <Usdt amount={usdt} cents />
            </span>
          </li>
        ))}
      </ul>
      {!data.is_complete && <p className="dim">{t.totalsCut}</p>}
    </section>
  );
}

function useColumns(): Column<PaymentRow>[] {
  const t = useTexts(texts);
  return [
    { head: t.payment, cell: row => <ShortId id={row.payment_id} /> },
    { head: t.created, cell: row => <Time at={row.created_at} as="short" /> },
    { head: t.status, cell: row => <State state={stateOf(row)} /> },
    { head: t.recipient, cell: row => <Name text={row.recipient} /> },
    { head: t.rub, cell: row => <Rub amount={row.amount_rub} bare />, right: true },
    { head: t.usdt, cell: row => <Usdt amount={row.amount_usdt} bare />, right: true },
    { head: t.externalId, cell: row => <Middle text={row.external_id} />, wideOnly: true },
  ];
}

export const stateOf = ({ status, status_detail }: Pick<PaymentRow, 'status' | 'status_detail'>): string =>
  status === 'processing' && status_detail === 'manual_review' ? 'manual_review' : status;

function FilterForm({ filters, apply }: { filters: Filters; apply: (change: Partial<Filters>) => void }) {
  const t = useTexts(texts);
  const common = useCommon();
  const [draft, setDraft] = useState(filters);
  // The URL changes also without this form; the fields keep the focus.
  const [seen, setSeen] = useState(JSON.stringify(filters));
  if (seen !== JSON.stringify(filters)) {
    setSeen(JSON.stringify(filters));
    setDraft(filters);
  }
  const submit = (event: FormEvent) => {
    event.preventDefault();
    apply({ ...draft, q: draft.q.trim() });
  };
  return (
    <form onSubmit={submit} className="filters">
      <SearchField
        className="filter-wide"
        label={t.search}
        placeholder={t.searchHint}
        value={draft.q}
        onChange={event => setDraft({ ...draft, q: event.currentTarget.value })}
      />
      <NativeSelect
        label={t.status}
        value={draft.status}
        onChange={event => apply({ ...draft, status: event.currentTarget.value })}
        data={[
          { value: '', label: t.any },
          ...(['processing', 'succeeded', 'failed'] as const).map(value => ({
            value,
            label: common.states[value],
          })),
        ]}
      />
      <PeriodFields
        value={draft}
        onChoose={change => apply({ ...draft, ...change })}
        onTimes={change => setDraft({ ...draft, ...change })}
      />
      <Button type="submit">{t.find}</Button>
      {names.some(name => filters[name]) && (
        <Button variant="default" onClick={() => apply(nothing)}>
          {t.clear}
        </Button>
      )}
    </form>
  );
}
