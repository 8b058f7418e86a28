import { Alert } from '@mantine/core';
import { Link } from 'wouter';
import type { AlarmKinds, AuditHeadsState, AuditRow } from '../../../src/console/shapes.ts';
import { query } from '../api.ts';
import { Download } from '../parts/download.tsx';
import { FilterForm, useFilters } from '../parts/filters.tsx';
import { Empty, KeysetTable, PageFrame, useLive, useOnce } from '../parts/page.tsx';
import { actorName, amountIn, IdLink, numberIn, percentIn, Time, timeIn } from '../parts/values.tsx';
import { useLanguage, useShared, useTexts, wordIn } from '../texts/index.ts';
import { texts } from './audit/texts.ts';

const names = ['actor', 'action', 'subject', 'since', 'until'] as const;
type Filters = Record<(typeof names)[number], string>;

/** Days in the URL become times for the server; the last day is included to its end. */
function toQuery({ actor, since, until, ...filters }: Filters, actors: Record<string, string>) {
  // The list shows operators by their names, so a name finds them.
  const isName = actor !== '' && !actor.includes(':') && !(actor in actors);
  const isDay = (text: string) => /^\d{4}-\d\d-\d\d$/.test(text);
  return {
    ...filters,
    actor: isName ? `operator:${actor}` : actor,
    since: isDay(since) ? `${since}T00:00:00.000Z` : '',
    until: isDay(until) ? new Date(Date.parse(until) + 86_400_000).toISOString() : '',
  };
}

export default function Audit() {
  const t = useTexts(texts);
  const of = useFilters(names);
  const given = toQuery(of.filters, t.actors);
  const actorIn = (actor: string) => wordIn(t.actors, actorName(actor));
  return (
    <PageFrame
      title={t.nav.audit}
      lead={t.lead}
      actions={
        <>
          <Download path={`/audit/export${query({ format: 'csv', ...given })}`} label={t.csv} />
          <Download path={`/audit/export${query({ format: 'json', ...given })}`} label={t.json} />
        </>
      }
    >
      <HeadsState />
      <Fields of={of} />
      <KeysetTable<AuditRow>
        label={t.nav.audit}
        path={`/audit${query(given)}`}
        everyMs={10_000}
        keyOf={row => row.audit_id}
        empty={<Empty title={of.isFiltered ? t.noneFound : t.none}>{of.isFiltered && t.noneFoundHint}</Empty>}
        columns={[
          { head: t.at, cell: row => <Time as="short" at={row.at} /> },
          {
            head: t.actor,
            cell: row => <Link href={`/audit${query({ actor: row.actor })}`}>{actorIn(row.actor)}</Link>,
          },
          {
            head: t.action,
            cell: row => (
              <Link href={`/audit${query({ action: row.action })}`} title={row.action}>
                {wordIn(t.actions, row.action)}
              </Link>
            ),
          },
          { head: t.subject, cell: row => <Subject subject={row.subject} /> },
          { head: t.change, cell: row => <Changed before={row.before} after={row.after} /> },
        ]}
      />
    </PageFrame>
  );
}

/** Nothing if no heads of the log are kept outside the database. */
function HeadsState() {
  const t = useTexts(texts);
  const { data } = useLive<AuditHeadsState>('/audit/heads', 60_000);
  if (data?.state === 'missing')
    return (
      <Alert color="red" role="alert" mb="md">
        {t.headsMissing(data.missing.map(({ place }) => place).join(', '))}
      </Alert>
    );
  if (data?.state === 'unreachable')
    return (
      <Alert color="yellow" mb="md">
        {t.headsUnreachable}
      </Alert>
    );
  return data?.state === 'contained' ? <p className="dim">{t.headsContained(data.kept)}</p> : null;
}

function Fields({ of }: { of: ReturnType<typeof useFilters<(typeof names)[number]>> }) {
  const t = useTexts(texts);
  return (
    <FilterForm
      of={of}
      verb={t.filter}
      fields={[
        { name: 'actor', label: t.actor, placeholder: 'admin', 'data-search': true },
        {
          name: 'action',
          label: t.action,
          any: t.any,
          words: t.actions,
          values: actionsIn(t.actions, of.filters.action),
        },
        { name: 'subject', label: t.subject, placeholder: 'pay_… prt_…' },
        { name: 'since', label: t.since, as: 'day' },
        { name: 'until', label: t.until, as: 'day' },
      ]}
    />
  );
}

/** The actions by their names; one without a name comes with the URL only. */
function actionsIn(names: Record<string, string>, chosen: string): string[] {
  const known = Object.keys(names);
  if (chosen && !(chosen in names)) known.push(chosen);
  return known.sort((a, b) => wordIn(names, a).localeCompare(wordIn(names, b)));
}

/** Subjects with a page are links. */
function Subject({ subject }: { subject: string }) {
  const { subjects } = useShared();
  if (/^(pay|prt)_/.test(subject)) return <IdLink id={subject} />;
  return <span className="wrap-anywhere">{wordIn(subjects, subject)}</span>;
}

type Flat = Record<string, string>;

/** `{limits: {max: 1}}` becomes `limits.max`, so that a change reads as a line. */
function flatten(value: unknown, path = '', into: Flat = {}): Flat {
  if (value === null || value === undefined) {
    if (path) into[path] = '—';
  } else if (Array.isArray(value) && value.every(one => typeof one !== 'object')) {
    into[path] = value.join(', ') || '—';
  } else if (typeof value === 'object') {
    for (const [name, inner] of Object.entries(value)) flatten(inner, path ? `${path}.${name}` : name, into);
  } else into[path] = `${value}`;
  return into;
}

const lastOf = (path: string) => path.slice(path.lastIndexOf('.') + 1);

/** The name of a field; one without a text as readable words: `newName` and `new_name` as `new name`. */
const nameIn = (names: Record<string, string>, path: string) =>
  names[lastOf(path)] ??
  path
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .replaceAll('.', ': ')
    .toLowerCase();

/** Plain numbers; other digits may be an id. */
const counts = new Set([
  'concurrent',
  'createBurst',
  'createRps',
  'entries',
  'events',
  'findings',
  'otherRps',
  'rows',
  'sessions',
]);

/** What people have written. */
const free = new Set(['reason', 'name', 'reference', 'url', 'contacts', 'notes']);

/** A value as readers write it: amounts, percents, times and codes. */
function useValueIn(): (path: string, value: string) => string {
  const { values } = useTexts(texts);
  const kinds = useOnce<AlarmKinds>('/alarms/kinds').data?.data ?? {};
  const { subjects } = useShared();
  const language = useLanguage();
  return (path, value) => {
    const name = lastOf(path);
    if (value === '—' || free.has(name)) return value;
    if (name.endsWith('usdt')) return `${amountIn(language, value)} USDT`;
    if (name.endsWith('_rub')) return `${amountIn(language, value)} ₽`;
    if (name.toLowerCase().endsWith('kopecks')) return `${amountIn(language, rublesOf(value))} ₽`;
    if (name === 'spread_bps') return percentIn(language, Number(value) / 100);
    if (name.endsWith('_percent')) return percentIn(language, Number(value));
    if (counts.has(name) && /^\d+$/.test(value)) return numberIn(language, Number(value));
    if (isTime(value)) return timeIn(language, value);
    const wordOf = (code: string) => values[code] ?? kinds[code]?.[language] ?? wordIn(subjects, code);
    return value.split(', ').map(wordOf).join(', ');
  };
}

const rublesOf = (kopecks: string) => `${kopecks.slice(0, -2) || '0'}.${kopecks.slice(-2).padStart(2, '0')}`;

const isTime = (value: string) => value.length === 24 && value.endsWith('Z') && value[10] === 'T';

/** Only the differences, with the old value struck out. */
export function Changed({ before, after }: { before: unknown; after: unknown }) {
  const t = useTexts(texts);
  const valueIn = useValueIn();
  const [old, now] = [flatten(before), flatten(after)];
  const names = [...new Set([...Object.keys(old), ...Object.keys(now)])].filter(
    name => old[name] !== now[name],
  );
  if (names.length === 0) return <span className="dim">—</span>;
  const line = (name: string) => (
    <li key={name}>
      <span className="dim">{nameIn(t.fields, name) || t.value}:</span>{' '}
      {old[name] !== undefined && old[name] !== '—' && (
        <>
          <del title={t.before}>{valueIn(name, old[name])}</del>{' '}
        </>
      )}
      {now[name] !== undefined ? (
        <ins title={t.after}>{valueIn(name, now[name])}</ins>
      ) : (
        <span className="dim">{t.gone}</span>
      )}
    </li>
  );
  if (names.length <= 4) return <ul className="changed">{names.map(line)}</ul>;
  return (
    <>
      <ul className="changed">{names.slice(0, 3).map(line)}</ul>
      <details className="changed-more">
        <summary>{t.moreLines(names.length - 3)}</summary>
        <ul className="changed">{names.slice(3).map(line)}</ul>
      </details>
    </>
  );
}
