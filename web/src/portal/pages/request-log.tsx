import { Link } from 'wouter';
import type { LoggedRequestRow } from '../../../../src/web/shapes.ts';
import { query } from '../../api.ts';
import { Badge, TestMark } from '../../parts/badge.tsx';
import { FilterForm, useFilters } from '../../parts/filters.tsx';
import { type Column, Empty, KeysetTable, PageFrame } from '../../parts/page.tsx';
import { Copyable, Duration, shortId, Time } from '../../parts/values.tsx';
import { usePartner } from '../partner.ts';
import { inBoth, useTexts } from '../texts/index.ts';
import { BodyLogCard } from './body-log.tsx';

const texts = inBoth({
  lead: [
    'What your keys sent to the API in the last days, and how it was answered. Without headers and query parameters; bodies only if an owner turns that on.',
    'Что ваши ключи отправляли в API за последние дни и какой получили ответ. Без заголовков и параметров запроса; тела — только если владелец включил их запись.',
  ],
  id: ['Request ID', 'ID запроса'],
  hint: ['Requests appear here within seconds.', 'Запросы появляются здесь через несколько секунд.'],
});

const names = ['request_id', 'status', 'error_code'] as const;

export default function RequestLog() {
  const t = useTexts(texts);
  const { api } = usePartner();
  const of = useFilters(names);
  return (
    <PageFrame title={t.nav.requests} lead={t.lead}>
      <FilterForm
        of={of}
        fields={[
          { name: 'request_id', label: t.id, placeholder: 'req_…', className: 'filter-wide' },
          { name: 'status', label: t.status, words: {}, values: ['2xx', '4xx', '5xx'] },
          { name: 'error_code', label: t.error, placeholder: 'insufficient_balance' },
        ]}
      />
      <KeysetTable<LoggedRequestRow>
        label={t.nav.requests}
        path={api(`/request-log${query(of.filters)}`)}
        everyMs={10_000}
        columns={useColumns()}
        keyOf={row => row.request_id}
        empty={<Empty title={of.isFiltered ? t.none : t.noneYet}>{t.hint}</Empty>}
      />
      <BodyLogCard />
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
          <Link href={`/requests/${row.request_id}`}>
            <code className="wrap-anywhere">{`${row.method ?? '?'} ${row.path ?? ''}`}</code>
          </Link>
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
          <Link className="one-line" href={`/payments/${row.payment_id}`}>
            {shortId(row.payment_id)}
          </Link>
        ) : (
          <span className="dim">—</span>
        ),
      wideOnly: true,
    },
    { head: t.key, cell: row => (row.key_id ? <code>{row.key_id}</code> : '—'), wideOnly: true },
    { head: t.id, cell: row => <Copyable text={row.request_id} short={shortId(row.request_id)} /> },
  ];
}
