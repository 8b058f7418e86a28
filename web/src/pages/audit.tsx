import { Alert } from '@mantine/core';
import { Link } from 'wouter';
import type { AuditHeadsState, AuditRow } from '../../../src/console/shapes/audit.ts';
import { query } from '../api.ts';
import { Download } from '../parts/download.tsx';
import { FilterForm, useFilters } from '../parts/filters.tsx';
import { Empty, KeysetTable, PageFrame, useLive } from '../parts/page.tsx';
import { actorName, IdLink, Time } from '../parts/values.tsx';
import { useShared, useTexts, wordIn } from '../texts/index.ts';
import { Changed } from './audit/changed.tsx';
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
  const shared = useShared();
  const of = useFilters(names);
  const given = toQuery(of.filters, shared.actors);
  const actorIn = (actor: string) => wordIn(shared.actors, actorName(actor));
  return (
    <PageFrame
      title={shared.nav.audit}
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
        label={shared.nav.audit}
        queryKey={['audit']}
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
  const { data } = useLive<AuditHeadsState>(['audit', 'heads'], '/audit/heads', 60_000);
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
