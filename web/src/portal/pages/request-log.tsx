import { Button, NativeSelect, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { Link, useSearchParams } from 'wouter';
import type { LoggedRequestRow } from '../../../../src/portal/shapes/request-log.ts';
import { query } from '../../api.ts';
import { Badge, TestMark } from '../../parts/badge.tsx';
import { Copyable } from '../../parts/copy.tsx';
import { PageFrame } from '../../parts/page.tsx';
import { shortId } from '../../parts/short.tsx';
import { Empty } from '../../parts/states.tsx';
import { type Column, KeysetTable } from '../../parts/table.tsx';
import { Duration, Time } from '../../parts/time.tsx';
import { useTexts } from '../../texts/language.ts';
import { usePartner } from '../partner.ts';
import { usePortal } from '../texts/index.ts';
import { texts } from './request-log.texts.ts';

const names = ['request_id', 'status', 'error_code'] as const;
type Filters = Record<(typeof names)[number], string>;

export default function RequestLog() {
  const t = useTexts(texts);
  const portal = usePortal();
  const { api } = usePartner();
  const [params, setParams] = useSearchParams();
  const filters = Object.fromEntries(names.map(name => [name, params.get(name) ?? ''])) as Filters;
  const isFiltered = names.some(name => filters[name]);
  return (
    <PageFrame title={portal.nav.requests} lead={t.lead}>
      <FilterForm
        key={JSON.stringify(filters)}
        filters={filters}
        apply={change => setParams(Object.fromEntries(Object.entries(change).filter(([, value]) => value)))}
      />
      <KeysetTable<LoggedRequestRow>
        label={portal.nav.requests}
        queryKey={['requests']}
        path={api(`/request-log${query(filters)}`)}
        everyMs={10_000}
        columns={useColumns()}
        keyOf={row => row.request_id}
        empty={<Empty title={isFiltered ? t.none : t.noneYet}>{t.hint}</Empty>}
      />
    </PageFrame>
  );
}

function useColumns(): Column<LoggedRequestRow>[] {
  const t = useTexts(texts);
  return [
    { head: t.at, cell: row => <Time at={row.at} as="short" /> },
    {
      head: t.request,
      cell: row => (
        <span className="inline wrap-anywhere">
          <code>{`${row.method ?? '?'} ${row.path ?? ''}`}</code>
          {row.mode && <TestMark mode={row.mode} />}
        </span>
      ),
    },
    {
      head: t.status,
      cell: row => (
        <span className="inline">
          <Badge tone={row.status < 400 ? 'good' : 'bad'}>{`${row.status}`}</Badge>
          {row.error_code && <code>{row.error_code}</code>}
        </span>
      ),
    },
    { head: t.took, cell: row => <Duration ms={row.duration_ms} />, right: true },
    {
      head: t.payment,
      cell: row =>
        row.payment_id ? (
          <Link href={`/payments/${row.payment_id}`}>{shortId(row.payment_id)}</Link>
        ) : (
          <span className="dim">—</span>
        ),
      wideOnly: true,
    },
    { head: t.key, cell: row => (row.key_id ? <code>{row.key_id}</code> : '—'), wideOnly: true },
    { head: t.id, cell: row => <Copyable text={row.request_id} short={shortId(row.request_id)} /> },
  ];
}

function FilterForm({ filters, apply }: { filters: Filters; apply: (change: Filters) => void }) {
  const t = useTexts(texts);
  const [draft, setDraft] = useState(filters);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    apply(draft);
  };
  return (
    <form onSubmit={submit} className="filters">
      <TextInput
        className="filter-wide"
        label={t.id}
        placeholder="req_…"
        value={draft.request_id}
        onChange={event => setDraft({ ...draft, request_id: event.currentTarget.value })}
      />
      <NativeSelect
        label={t.status}
        value={draft.status}
        onChange={event => apply({ ...draft, status: event.currentTarget.value })}
        data={[
          { value: '', label: t.any },
          { value: '2xx', label: '2xx' },
          { value: '4xx', label: '4xx' },
          { value: '5xx', label: '5xx' },
        ]}
      />
      <TextInput
        label={t.error}
        placeholder="insufficient_balance"
        value={draft.error_code}
        onChange={event => setDraft({ ...draft, error_code: event.currentTarget.value })}
      />
      <Button type="submit">{t.find}</Button>
      {names.some(name => filters[name]) && (
        <Button variant="default" onClick={() => apply({ request_id: '', status: '', error_code: '' })}>
          {t.clear}
        </Button>
      )}
    </form>
  );
}
