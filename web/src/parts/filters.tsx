import { Button } from '@mantine/core';
import { type FormEvent, type ReactNode, useState } from 'react';
import { useSearchParams } from 'wouter';
import { useCommon } from '../texts/common.ts';
import { Empty } from './page.tsx';

type Change<Name extends string> = (change: Partial<Record<Name, string>>) => void;

interface Filters<Name extends string> {
  filters: Record<Name, string>;
  isFiltered: boolean;
  apply: Change<Name>;
  clear: () => void;
}

/** The filters of a list. They are in the URL, so that a list can be shared. */
export function useFilters<const Name extends string>(names: readonly Name[]): Filters<Name> {
  const [params, setParams] = useSearchParams();
  const filters = Object.fromEntries(names.map(name => [name, params.get(name) ?? ''])) as Record<
    Name,
    string
  >;
  return {
    filters,
    isFiltered: names.some(name => filters[name]),
    apply: change =>
      setParams(
        Object.fromEntries(Object.entries<string>({ ...filters, ...change }).filter(([, value]) => value)),
      ),
    clear: () => setParams({}),
  };
}

interface FormProps<Name extends string> {
  of: Filters<Name>;
  /** The label of the button, if it is not to search. */
  verb?: string;
  /** What was typed, as the filters need it. */
  read?: (draft: Record<Name, string>) => Partial<Record<Name, string>>;
  /** The fields. `set` keeps what is typed until the button is pressed, `setNow` applies it at once. */
  children: (draft: Record<Name, string>, set: Change<Name>, setNow: Change<Name>) => ReactNode;
}

/** The fields above a list. */
export function FilterForm<Name extends string>({ of, verb, read, children }: FormProps<Name>) {
  const t = useCommon();
  const [draft, setDraft] = useState(of.filters);
  // The URL changes also without this form; the fields keep the focus.
  const [seen, setSeen] = useState(JSON.stringify(of.filters));
  if (seen !== JSON.stringify(of.filters)) {
    setSeen(JSON.stringify(of.filters));
    setDraft(of.filters);
  }
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const trimmed = Object.entries<string>(draft).map(([name, text]) => [name, text.trim()]);
    of.apply({ ...Object.fromEntries(trimmed), ...read?.(draft) });
  };
  return (
    <search>
      <form onSubmit={submit} className="filters">
        {children(
          draft,
          change => setDraft({ ...draft, ...change }),
          change => of.apply({ ...draft, ...change }),
        )}
        <Button type="submit">{verb ?? t.find}</Button>
        <ClearFilters of={of} />
      </form>
    </search>
  );
}

interface ClearProps {
  of: Pick<Filters<string>, 'isFiltered' | 'clear'>;
  label?: string;
}

/** Only while there are filters. */
export function ClearFilters({ of, label }: ClearProps) {
  const t = useCommon();
  if (!of.isFiltered) return null;
  return (
    <Button variant="default" onClick={of.clear}>
      {label ?? t.clear}
    </Button>
  );
}

interface NoneProps {
  of: { isFiltered: boolean };
  t: Record<'none' | 'noneHint' | 'noneYet' | 'noneYetHint', string>;
}

/** An empty list: nothing fits the filters, or there is nothing yet. */
export const NoneFound = ({ of: { isFiltered }, t }: NoneProps) => (
  <Empty title={isFiltered ? t.none : t.noneYet}>{isFiltered ? t.noneHint : t.noneYetHint}</Empty>
);
