import { Button, NativeSelect, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useSearchParams } from 'wouter';
import type { PaymentRow } from '../../../src/console/shapes/payments.ts';
import { query } from '../api.ts';
import { State, TestMark } from '../parts/badge.tsx';
import { Rub, Usdt } from '../parts/money.tsx';
import { PageFrame } from '../parts/page.tsx';
import { SearchField } from '../parts/search-field.tsx';
import { Cut, ShortId, shortId } from '../parts/short.tsx';
import { Empty } from '../parts/states.tsx';
import { type Column, KeysetTable } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { useShared, useTexts } from '../texts/index.ts';
import { texts } from './payments.texts.ts';

const names = [
  'q',
  'state',
  'mode',
  'amount_rub',
  'created_after',
  'created_before',
  'partner_id',
  'payment_id',
  'external_id',
  'qr',
  'recipient',
] as const;
type Filters = Record<(typeof names)[number], string>;
const nothing = Object.fromEntries(names.map(name => [name, ''])) as Filters;

/** The filters are in the URL, so that a search can be shared. */
export default function Payments() {
  const t = useTexts(texts);
  const shared = useShared();
  const [params, setParams] = useSearchParams();
  const filters = Object.fromEntries(names.map(name => [name, params.get(name) ?? ''])) as Filters;
  const isFiltered = names.some(name => filters[name]);

  const apply = (change: Partial<Filters>) =>
    setParams(Object.fromEntries(Object.entries({ ...filters, ...change }).filter(([, value]) => value)));

  return (
    <PageFrame title={shared.nav.payments}>
      <FilterForm key={JSON.stringify(filters)} filters={filters} apply={apply} />
      {filters.partner_id && <p className="chosen dim">{t.onlyPartner(shortId(filters.partner_id))}</p>}
      <KeysetTable<PaymentRow>
        label={t.list}
        queryKey={['payments']}
        path={`/payments${query(asked(filters))}`}
        everyMs={4000}
        columns={usePaymentColumns()}
        keyOf={row => row.payment_id}
        hrefOf={row => `/payments/${row.payment_id}`}
        empty={
          <Empty title={isFiltered ? t.none : t.noneYet}>{isFiltered ? t.noneHint : t.noneYetHint}</Empty>
        }
      />
    </PageFrame>
  );
}

/** The query parameters of the server. Times in the form have no zone: they are UTC. */
function asked({ state, created_after, created_before, ...rest }: Filters): Record<string, string> {
  const at = (text: string) => (text ? `${text.length === 16 ? `${text}:00` : text}Z` : '');
  return {
    ...rest,
    status: state === 'manual_review' ? 'processing' : state,
    status_detail: state === 'manual_review' ? state : '',
    created_after: at(created_after),
    created_before: at(created_before),
  };
}

export function usePaymentColumns(): Column<PaymentRow>[] {
  const t = useTexts(texts);
  return [
    { head: t.payment, cell: row => <ShortId id={row.payment_id} /> },
    { head: t.created, cell: row => <Time at={row.created_at} as="short" /> },
    { head: t.status, cell: row => <State state={stateOf(row)} /> },
    {
      head: t.partner,
      cell: row => (
        <span className="inline">
          <Cut text={row.partner} />
          <TestMark mode={row.mode} />
        </span>
      ),
    },
    { head: t.recipient, cell: row => <Cut text={row.recipient} /> },
    { head: t.rub, cell: row => <Rub amount={row.amount_rub} bare />, right: true },
    { head: t.usdt, cell: row => <Usdt amount={row.amount_usdt} bare />, right: true, wideOnly: true },
    { head: t.externalId, cell: row => <Cut text={row.external_id} />, wideOnly: true },
  ];
}

export const stateOf = ({ status, status_detail }: Pick<PaymentRow, 'status' | 'status_detail'>): string =>
  status === 'processing' && status_detail === 'manual_review' ? 'manual_review' : status;

function FilterForm({ filters, apply }: { filters: Filters; apply: (change: Partial<Filters>) => void }) {
  const t = useTexts(texts);
  const shared = useShared();
  const [draft, setDraft] = useState(filters);
  const set = (change: Partial<Filters>) => setDraft({ ...draft, ...change });
  const setNow = (change: Partial<Filters>) => apply({ ...draft, ...change });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    apply({ ...draft, q: draft.q.trim(), amount_rub: draft.amount_rub.trim().replace(',', '.') });
  };
  return (
    <form onSubmit={submit} className="filters">
      <SearchField
        className="filter-wide"
        label={t.search}
        placeholder={t.searchHint}
        value={draft.q}
        onChange={event => set({ q: event.currentTarget.value })}
      />
      <NativeSelect
        label={t.status}
        value={draft.state}
        onChange={event => setNow({ state: event.currentTarget.value })}
        data={[
          { value: '', label: t.any },
          ...(['processing', 'manual_review', 'succeeded', 'failed'] as const).map(value => ({
            value,
            label: shared.states[value],
          })),
        ]}
      />
      <NativeSelect
        label={t.mode}
        value={draft.mode}
        onChange={event => setNow({ mode: event.currentTarget.value })}
        data={[
          { value: '', label: t.any },
          { value: 'live', label: t.live },
          { value: 'test', label: t.test },
        ]}
      />
      <TextInput
        className="filter-short"
        label={t.amount}
        inputMode="decimal"
        value={draft.amount_rub}
        onChange={event => set({ amount_rub: event.currentTarget.value })}
      />
      <TextInput
        label={t.from}
        type="datetime-local"
        value={draft.created_after}
        onChange={event => set({ created_after: event.currentTarget.value })}
      />
      <TextInput
        label={t.until}
        type="datetime-local"
        value={draft.created_before}
        onChange={event => set({ created_before: event.currentTarget.value })}
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
