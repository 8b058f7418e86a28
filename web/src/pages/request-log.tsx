import { Link } from 'wouter';
import type { LoggedRequestRow } from '../../../src/console/shapes.ts';
import { query } from '../api.ts';
import { Badge, TestMark } from '../parts/badge.tsx';
import { FilterForm, NoneFound, useFilters } from '../parts/filters.tsx';
import { Empty, KeysetTable, PageFrame } from '../parts/page.tsx';
import { Copyable, Cut, Duration, Middle, Name, shortId, Time } from '../parts/values.tsx';
import { instantIn } from '../parts/zone.ts';
import { inBoth, useTexts } from '../texts/index.ts';

const texts = inBoth({
  lead: [
    'What partners sent to the API, and how it was answered. Without bodies, headers and query parameters.',
    'Что партнёры отправляли в API и какой получили ответ. Без тел, заголовков и параметров запроса (после «?»).',
  ],
  request: ['Request ID', 'ID запроса'],
  noPartner: [
    'Unknown (key missing, not valid or not checked)',
    'Неизвестен (ключ не указан, недействителен или не проверялся)',
  ],
  key: ['Key ID', 'ID ключа'],
  path: ['Path', 'Путь'],
  notHttp: ['Not valid HTTP', 'Некорректный HTTP'],
  classes: {
    '2xx': ['2xx: success', '2xx: успешные'],
    '4xx': ['4xx: rejected', '4xx: отклонённые'],
    '5xx': ['5xx: service errors', '5xx: ошибки сервиса'],
  },
  since: ['From, UTC', 'С, UTC'],
  until: ['Before, UTC', 'До, UTC'],
  noneHint: [
    'Remove some filters. Requests are kept for REQUEST_LOG_DAYS days (7 by default).',
    'Уберите часть фильтров. Запросы хранятся REQUEST_LOG_DAYS дней (по умолчанию 7).',
  ],
  noneSoFar: ['No requests found so far', 'Пока ничего не найдено'],
  noneSoFarHint: [
    'Only part of the log has been searched. Select “Show more” to search older requests.',
    'Просмотрена только часть журнала. Нажмите «Показать ещё», чтобы искать в более старых запросах.',
  ],
  noneYetHint: [
    'Requests from partners appear here within seconds, unless the log is turned off.',
    'Запросы партнёров появляются здесь через несколько секунд, если журнал не отключён.',
  ],
});

const names = ['request_id', 'partner', 'path', 'status', 'error_code', 'since', 'until'] as const;
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

export default function RequestLog() {
  const t = useTexts(texts);
  const of = useFilters(names);
  const { since, until } = of.filters;
  const asked = { ...of.filters, since: instantIn('UTC', since), until: instantIn('UTC', until) };
  return (
    <PageFrame title={t.nav.requestLog} lead={t.lead}>
      <Fields of={of} />
      <KeysetTable<LoggedRequestRow>
        label={t.nav.requestLog}
        path={`/request-log${query(asked)}`}
        {...(of.isFiltered ? {} : { everyMs: 5000 })}
        stopsOnError
        keyOf={row => row.request_id}
        empty={<NoneFound of={of} t={t} />}
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

function Fields({ of }: { of: ReturnType<typeof useFilters<(typeof names)[number]>> }) {
  const t = useTexts(texts);
  // One status, such as 404, comes with the URL only.
  const { status } = of.filters;
  const isOneStatus = status !== '' && !(status in t.classes);
  return (
    <FilterForm
      of={of}
      fields={[
        {
          name: 'request_id',
          label: t.request,
          placeholder: 'req_…',
          spellCheck: false,
          'data-search': true,
        },
        { name: 'partner', label: t.partner, placeholder: t.partnerHint },
        {
          name: 'path',
          label: t.path,
          placeholder: '/v1/payments',
          list: 'request-log-routes',
          spellCheck: false,
        },
        () => (
          <datalist id="request-log-routes">
            {routes.map(route => (
              <option key={route} value={route} />
            ))}
          </datalist>
        ),
        {
          name: 'status',
          label: t.status,
          words: { ...t.classes, ...(isOneStatus ? { [status]: status } : {}) },
        },
        { name: 'error_code', label: t.error, placeholder: 'rate_limited', spellCheck: false },
        { name: 'since', label: t.since, as: 'time' },
        { name: 'until', label: t.until, as: 'time' },
      ]}
    />
  );
}
