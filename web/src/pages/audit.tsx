import { Button, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { Link, useSearchParams } from 'wouter';
import type { AuditRow } from '../../../src/console/shapes/audit.ts';
import { query } from '../api.ts';
import { Download } from '../parts/download.tsx';
import { PageFrame } from '../parts/page.tsx';
import { actorName } from '../parts/short.tsx';
import { Empty } from '../parts/states.tsx';
import { KeysetTable } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { useShared, useTexts, wordIn } from '../texts/index.ts';
import { Changed } from './audit/changed.tsx';
import { texts } from './audit/texts.ts';

const names = ['actor', 'action', 'subject', 'since', 'until'] as const;
type Filters = Record<(typeof names)[number], string>;

/** Days in the URL become times for the server; the last day is included to its end. */
function toQuery({ since, until, ...filters }: Filters) {
  const isDay = (text: string) => /^\d{4}-\d\d-\d\d$/.test(text);
  return {
    ...filters,
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
  const given = toQuery(filters);
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
          placeholder="operator:admin"
          value={fields.actor}
          onChange={set('actor')}
          data-search
        />
        <TextInput
          label={t.action}
          placeholder="payment.resolve"
          list="audit-actions"
          value={fields.action}
          onChange={set('action')}
        />
        <datalist id="audit-actions">
          {Object.entries(t.actions).map(([action, text]) => (
            <option key={action} value={action}>
              {text}
            </option>
          ))}
        </datalist>
        <TextInput
          label={t.subject}
          placeholder="pay_… prt_…"
          value={fields.subject}
          onChange={set('subject')}
        />
        <TextInput type="date" label={t.since} value={fields.since} onChange={set('since')} />
        <TextInput type="date" label={t.until} value={fields.until} onChange={set('until')} />
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
