import { Alert, Button, NativeSelect, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { Link, useSearchParams } from 'wouter';
import type { AuditHeadsState, AuditRow } from '../../../src/console/shapes/audit.ts';
import { query } from '../api.ts';
import { Download } from '../parts/download.tsx';
import { PageFrame } from '../parts/page.tsx';
import { useLive } from '../parts/polling.ts';
import { actorName } from '../parts/short.tsx';
import { Empty } from '../parts/states.tsx';
import { KeysetTable } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { UtcDayInput } from '../parts/utc-time-input.tsx';
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
  const [params, setParams] = useSearchParams();
  const filters = Object.fromEntries(names.map(name => [name, params.get(name) ?? ''])) as Filters;
  const isFiltered = names.some(name => filters[name] !== '');
  const given = toQuery(filters, shared.actors);
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
      <FilterForm
        key={params.toString()}
        filters={filters}
        onChange={chosen =>
          setParams(Object.fromEntries(names.map(name => [name, chosen[name]]).filter(([, value]) => value)))
        }
      />
      <KeysetTable<AuditRow>
        label={shared.nav.audit}
        queryKey={['audit']}
        path={`/audit${query(given)}`}
        everyMs={10_000}
        keyOf={row => row.audit_id}
        empty={<Empty title={isFiltered ? t.noneFound : t.none}>{isFiltered && t.noneFoundHint}</Empty>}
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

function FilterForm({ filters, onChange }: { filters: Filters; onChange: (filters: Filters) => void }) {
  const t = useTexts(texts);
  const [fields, setFields] = useState(filters);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onChange(Object.fromEntries(names.map(name => [name, fields[name].trim()])) as Filters);
  };
  const set = (name: keyof Filters) => (event: React.ChangeEvent<HTMLInputElement>) =>
    setFields({ ...fields, [name]: event.currentTarget.value });
  return (
    <search>
      <form className="filters" onSubmit={submit}>
        <TextInput
          label={t.actor}
          placeholder="admin"
          value={fields.actor}
          onChange={set('actor')}
          data-search
        />
        <NativeSelect
          label={t.action}
          value={fields.action}
          onChange={event => onChange({ ...fields, action: event.currentTarget.value })}
          data={[{ value: '', label: t.any }, ...actionsIn(t.actions, fields.action)]}
        />
        <TextInput
          label={t.subject}
          placeholder="pay_… prt_…"
          value={fields.subject}
          onChange={set('subject')}
        />
        <UtcDayInput
          label={t.since}
          value={fields.since}
          onChange={since => setFields({ ...fields, since })}
        />
        <UtcDayInput
          label={t.until}
          value={fields.until}
          onChange={until => setFields({ ...fields, until })}
        />
        <Button type="submit" variant="default">
          {t.filter}
        </Button>
        {names.some(name => filters[name]) && (
          <Button
            variant="subtle"
            onClick={() => onChange({ actor: '', action: '', subject: '', since: '', until: '' })}
          >
            {t.clear}
          </Button>
        )}
      </form>
    </search>
  );
}

/** The actions by their names; one without a name comes with the URL only. */
function actionsIn(names: Record<string, string>, chosen: string): { value: string; label: string }[] {
  const known = Object.entries(names).map(([value, label]) => ({ value, label }));
  if (chosen && !(chosen in names)) known.push({ value: chosen, label: chosen });
  return known.sort((a, b) => a.label.localeCompare(b.label));
}

/** Subjects with a page are links. */
function Subject({ subject }: { subject: string }) {
  const { subjects } = useShared();
  if (subject.startsWith('pay_'))
    return (
      <Link href={`/payments/${subject}`}>
        <code>{subject}</code>
      </Link>
    );
  if (subject.startsWith('prt_'))
    return (
      <Link href={`/partners/${subject}`}>
        <code>{subject}</code>
      </Link>
    );
  return <span className="wrap-anywhere">{wordIn(subjects, subject)}</span>;
}
