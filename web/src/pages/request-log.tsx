import { Button, NativeSelect, TextInput } from '@mantine/core';
import { type ChangeEvent, type FormEvent, useState } from 'react';
import { Link, useSearchParams } from 'wouter';
import type { LoggedRequestRow } from '../../../src/console/shapes/request-log.ts';
import { query } from '../api.ts';
import { Badge, TestMark } from '../parts/badge.tsx';
import { Copyable } from '../parts/copy.tsx';
import { PageFrame } from '../parts/page.tsx';
import { Cut, Middle, Name, shortId } from '../parts/short.tsx';
import { Empty } from '../parts/states.tsx';
import { KeysetTable } from '../parts/table.tsx';
import { Duration, Time } from '../parts/time.tsx';
import { UtcTimeInput } from '../parts/utc-time-input.tsx';
import { useShared, useTexts } from '../texts/index.ts';
import { texts } from './request-log.texts.ts';

const names = ['request_id', 'partner', 'path', 'status', 'error_code', 'since', 'until'] as const;
type Filters = Record<(typeof names)[number], string>;
const nothing = Object.fromEntries(names.map(name => [name, ''])) as Filters;

/** The routes of the API, to choose from. */
const routes = [
  '/v1/payments',
  '/v1/payments/:payment_id',
  '/v1/qr/resolve',
  '/v1/quote',
  '/v1/rate',
  '/v1/balance',
  '/v1/events',
  '/v1/statement',
  '/v1/ping',
  '/v1/test/clock',
];

const statusClasses = ['2xx', '4xx', '5xx'] as const;

/** Times in the form have no zone: they are UTC. */
const instantOf = (text: string) => (text ? `${text.length === 16 ? `${text}:00` : text}Z` : '');

/** The filters are in the URL, so that a search can be shared. */
export default function RequestLog() {
  const t = useTexts(texts);
  const shared = useShared();
  const [params, setParams] = useSearchParams();
  const filters = Object.fromEntries(names.map(name => [name, params.get(name) ?? ''])) as Filters;
  const isFiltered = names.some(name => filters[name]);
  const asked = { ...filters, since: instantOf(filters.since), until: instantOf(filters.until) };
  return (
    <PageFrame title={shared.nav.requestLog} lead={t.lead}>
      <FilterForm
        key={params.toString()}
        filters={filters}
        apply={chosen => setParams(Object.fromEntries(Object.entries(chosen).filter(([, value]) => value)))}
      />
      <KeysetTable<LoggedRequestRow>
        label={shared.nav.requestLog}
        queryKey={['request-log']}
        path={`/request-log${query(asked)}`}
        {...(isFiltered ? {} : { everyMs: 5000 })}
        stopsOnError
        keyOf={row => row.request_id}
        empty={
          <Empty title={isFiltered ? t.none : t.noneYet}>{isFiltered ? t.noneHint : t.noneYetHint}</Empty>
        }
        emptySoFar={<Empty title={t.noneSoFar}>{t.noneSoFarHint}</Empty>}
        columns={[
          { head: t.at, cell: row => <Time as="short" at={row.at} /> },
          { head: t.status, cell: row => <Status status={row.status} /> },
          { head: t.path, cell: row => <Path row={row} /> },
          { head: t.error, cell: row => <Cut text={row.error_code} /> },
          { head: t.partner, cell: row => <Partner row={row} /> },
          { head: t.key, cell: row => <Middle text={row.key_id} />, wideOnly: true },
          { head: t.took, cell: row => <Duration ms={row.duration_ms} />, right: true },
          {
            head: t.request,
            cell: row => <Copyable text={row.request_id} short={shortId(row.request_id)} />,
          },
        ]}
      />
    </PageFrame>
  );
}

function Status({ status }: { status: number }) {
  const tone = status >= 500 ? 'bad' : status >= 400 ? 'warn' : 'good';
  return <Badge tone={tone}>{`${status}`}</Badge>;
}

/** The request with a link to its payment, if it has one. */
function Path({ row: { method, path, payment_id } }: { row: LoggedRequestRow }) {
  const t = useTexts(texts);
  if (method === null) return <span className="dim">{t.notHttp}</span>;
  const request = (
    <code className="wrap-anywhere">
      {method} {path}
    </code>
  );
  return payment_id ? <Link href={`/payments/${payment_id}`}>{request}</Link> : request;
}

function Partner({ row: { partner_id, partner, mode } }: { row: LoggedRequestRow }) {
  const t = useTexts(texts);
  if (partner_id === null) return <span className="name dim">{t.noPartner}</span>;
  return (
    <span className="inline">
      <Link href={`/partners/${partner_id}`}>
        <Name text={partner ?? partner_id} />
      </Link>
      {mode && <TestMark mode={mode} />}
    </span>
  );
}

function FilterForm({ filters, apply }: { filters: Filters; apply: (filters: Filters) => void }) {
  const t = useTexts(texts);
  const [draft, setDraft] = useState(filters);
  const field = (name: keyof Filters) => ({
    value: draft[name],
    onChange: (event: ChangeEvent<HTMLInputElement>) =>
      setDraft({ ...draft, [name]: event.currentTarget.value }),
  });
  const isOneStatus = draft.status !== '' && statusClasses.every(value => value !== draft.status);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    apply(Object.fromEntries(names.map(name => [name, draft[name].trim()])) as Filters);
  };
  return (
    <search>
      <form className="filters" onSubmit={submit}>
        <TextInput
          label={t.request}
          placeholder="req_…"
          spellCheck={false}
          data-search
          {...field('request_id')}
        />
        <TextInput label={t.partner} placeholder={t.partnerHint} {...field('partner')} />
        <TextInput
          label={t.path}
          placeholder="/v1/payments"
          list="request-log-routes"
          spellCheck={false}
          {...field('path')}
        />
        <datalist id="request-log-routes">
          {routes.map(route => (
            <option key={route} value={route} />
          ))}
        </datalist>
        <NativeSelect
          label={t.status}
          value={draft.status}
          onChange={event => apply({ ...draft, status: event.currentTarget.value })}
          data={[
            { value: '', label: t.any },
            ...statusClasses.map(value => ({ value, label: t.classes[value] })),
            // One status, such as 404, comes with the URL only.
            ...(isOneStatus ? [{ value: draft.status, label: draft.status }] : []),
          ]}
        />
        <TextInput label={t.error} placeholder="rate_limited" spellCheck={false} {...field('error_code')} />
        <UtcTimeInput label={t.since} value={draft.since} onChange={since => setDraft({ ...draft, since })} />
        <UtcTimeInput label={t.until} value={draft.until} onChange={until => setDraft({ ...draft, until })} />
        <Button type="submit">{t.find}</Button>
        {names.some(name => filters[name]) && (
          <Button variant="default" onClick={() => apply(nothing)}>
            {t.clear}
          </Button>
        )}
      </form>
    </search>
  );
}
