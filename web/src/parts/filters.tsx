import { Button, type TextInputProps } from '@mantine/core';
import { type FormEvent, Fragment, type ReactNode, useState } from 'react';
import { useSearchParams } from 'wouter';
import { useCommon } from '../texts/common.ts';
import { DayInput, SearchField, SelectField, TextField, TimeInput } from './fields.tsx';
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

type Draft<Name extends string> = Record<Name, string>;

interface Field<Name extends string> extends Omit<TextInputProps, 'name' | 'onChange' | 'value'> {
  name: Name;
  as?: 'search' | 'time' | 'day';
  /** The texts of the values; without them it is a field for text. */
  words?: { readonly [value: string]: string | undefined };
  /** Those that can be chosen; without them, all that have a text. */
  values?: readonly string[];
  any?: string;
  'data-search'?: true;
}

type DrawnField<Name extends string> =
  | Field<Name>
  | ((draft: Draft<Name>, set: Change<Name>, setNow: Change<Name>) => ReactNode);

interface FieldsProps<Name extends string> {
  draft: Draft<Name>;
  /** Keeps what is typed until the button is pressed. */
  set: Change<Name>;
  /** Applies what was chosen at once. */
  setNow: Change<Name>;
  fields: DrawnField<NoInfer<Name>>[];
}

const textFields = { text: TextField, search: SearchField, time: TimeInput, day: DayInput };

/** Fields by their descriptions; a function draws its own. */
export function FilterFields<Name extends string>({ draft, set, setNow, fields }: FieldsProps<Name>) {
  const t = useCommon();
  return fields.map((field, index) => {
    // biome-ignore lint/suspicious/noArrayIndexKey: a form has the same fields as long as it is shown
    if (typeof field === 'function') return <Fragment key={index}>{field(draft, set, setNow)}</Fragment>;
    const { name, as = 'text', words, values, any = t.any, ...props } = field;
    const change = (text: string) => ({ [name]: text }) as Partial<Draft<Name>>;
    if (words)
      return (
        <SelectField<string>
          key={name}
          label={field.label}
          value={draft[name]}
          any={any}
          words={words}
          values={values ?? Object.keys(words)}
          onChange={value => setNow(change(value))}
        />
      );
    const TextKind = textFields[as];
    return (
      <TextKind key={name} {...props} value={draft[name]} onChange={(text: string) => set(change(text))} />
    );
  });
}

interface FormProps<Name extends string> extends Pick<FieldsProps<Name>, 'fields'> {
  of: Filters<Name>;
  /** The label of the button, if it is not to search. */
  verb?: string;
  /** What was typed, as the filters need it. */
  read?: (draft: Draft<Name>) => Partial<Draft<Name>>;
}

/** The fields above a list. */
export function FilterForm<Name extends string>({ of, verb, read, fields }: FormProps<Name>) {
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
        <FilterFields
          draft={draft}
          set={change => setDraft({ ...draft, ...change })}
          setNow={change => of.apply({ ...draft, ...change })}
          fields={fields}
        />
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
