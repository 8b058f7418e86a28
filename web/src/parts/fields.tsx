import {
  Button,
  NativeSelect,
  type NativeSelectProps,
  type ButtonProps as OwnButtonProps,
  TextInput,
  type TextInputProps,
  Tooltip,
} from '@mantine/core';
import { type ComponentPropsWithoutRef, useState } from 'react';
import { useCommon } from '../texts/common.ts';
import { Icon } from './icon.tsx';

export type ButtonProps = OwnButtonProps & Omit<ComponentPropsWithoutRef<'button'>, keyof OwnButtonProps>;

/** A button that explains why it is disabled, if it is, and can still get the focus. */
export function HintButton({ hint, onClick, ...props }: ButtonProps & { hint: string | undefined }) {
  if (!hint) return <Button size="xs" variant="default" onClick={onClick} {...props} />;
  return (
    <Tooltip label={hint} multiline maw={320}>
      <Button
        size="xs"
        variant="default"
        {...props}
        data-disabled
        aria-disabled="true"
        aria-description={hint}
      />
    </Tooltip>
  );
}

interface OfText {
  onChange: (text: string) => void;
}

/** A text field. */
export const TextField = ({ onChange, ...props }: Omit<TextInputProps, 'onChange'> & OfText) => (
  <TextInput {...props} onChange={event => onChange(event.currentTarget.value)} />
);

/** The search field; the key `/` moves the focus here. */
export const SearchField = (props: Omit<TextInputProps, 'onChange'> & OfText) => (
  <TextField type="search" leftSection={<Icon name="search" />} data-search {...props} />
);

interface SelectProps<Value extends string> extends Omit<NativeSelectProps, 'data' | 'onChange' | 'value'> {
  value: Value | '';
  /** The texts of the values. */
  words: { readonly [value in Value]?: string | undefined };
  /** Those that can be chosen; without them, all that have a text. */
  values?: readonly Value[];
  /** The text for choosing none of them. */
  any?: string;
  onChange: (value: Value) => void;
}

/** One of several values. A value without a text is shown as it is. */
export const SelectField = <Value extends string>({
  words,
  values = Object.keys(words) as Value[],
  any,
  onChange,
  ...props
}: SelectProps<Value>) => (
  <NativeSelect
    {...props}
    onChange={event => onChange(event.currentTarget.value as Value)}
    data={[
      ...(any === undefined ? [] : [{ value: '', label: any }]),
      ...values.map(value => ({ value, label: words[value] ?? value })),
    ]}
  />
);

interface ChoiceProps<Value extends string> {
  label: string;
  value: Value;
  options: [value: Value, text: string][];
  onChange: (value: Value) => void;
}

/** One of a few. */
export function Choice<Value extends string>({ label, value, options, onChange }: ChoiceProps<Value>) {
  return (
    <fieldset className="choice">
      <legend className="unseen">{label}</legend>
      {options.map(([one, text]) => (
        <button key={one} type="button" aria-pressed={one === value} onClick={() => onChange(one)}>
          {text}
        </button>
      ))}
    </fieldset>
  );
}

export const modes = ['live', 'test'] as const;

interface ModeChoiceProps {
  value: (typeof modes)[number];
  onChange: (value: (typeof modes)[number]) => void;
}

export function ModeChoice(props: ModeChoiceProps) {
  const t = useCommon();
  return <Choice label={t.mode} options={modes.map(one => [one, t.modes[one]])} {...props} />;
}

interface CheckListProps {
  label: string;
  options: string[];
  chosen: string[];
  onChange: (chosen: string[]) => void;
}

/** Any of a few names, which are shown as they are. */
export const CheckList = ({ label, options, chosen, onChange }: CheckListProps) => (
  <fieldset className="checks">
    <legend>{label}</legend>
    {options.map(option => (
      <label key={option}>
        <input
          type="checkbox"
          checked={chosen.includes(option)}
          onChange={event =>
            onChange(event.currentTarget.checked ? [...chosen, option] : chosen.filter(one => one !== option))
          }
        />
        <code>{option}</code>
      </label>
    ))}
  </fieldset>
);

interface EndpointUrlProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
}

/** The URL of a webhook endpoint. */
export const EndpointUrl = ({ label, value, onChange }: EndpointUrlProps) => (
  <TextField
    label={label}
    placeholder="https://shop.example/webhooks/kopeck"
    inputMode="url"
    spellCheck={false}
    maxLength={2048}
    value={value}
    onChange={onChange}
  />
);

/** `2026-11-15T22:00` of what was typed, with a space or a T; empty if it is no time. */
function parseTime(text: string): string {
  const [, day, time] = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d)$/.exec(text.trim()) ?? [];
  const at = new Date(`${day}T${time}Z`);
  const value = `${day}T${time}`;
  // A day that does not exist would become another one.
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(value) ? value : '';
}

/** `2026-11-15`, or empty if it is no day. */
function parseDay(text: string): string {
  const day = text.trim();
  return /^\d{4}-\d\d-\d\d$/.test(day) && parseTime(`${day} 00:00`) ? day : '';
}

interface TimeInputProps extends Omit<TextInputProps, 'value' | 'onChange'> {
  /** Without a zone, as `datetime-local` has it; empty: none. */
  value: string;
  onChange: (value: string) => void;
}

/**
 * A time in the zone of the page, with 24 hours. The field of the browser follows its language: often the month comes first, and
 * 12 hours.
 */
export const TimeInput = (props: TimeInputProps) => (
  <TypedTime {...props} parse={parseTime} example="2026-11-15 22:00" />
);

/** A day: year, month, day. */
export const DayInput = (props: TimeInputProps) => (
  <TypedTime {...props} parse={parseDay} example="2026-11-15" />
);

function TypedTime({
  value,
  onChange,
  error,
  parse,
  example,
  ...props
}: TimeInputProps & { parse: (text: string) => string; example: string }) {
  const t = useCommon().periods;
  const [typed, setTyped] = useState({ text: value.replace('T', ' '), value });
  const [isLeft, setLeft] = useState(true);
  // The page has set another time, or none.
  if (typed.value !== value) setTyped({ text: value.replace('T', ' '), value });
  const isWrong = isLeft && typed.text.trim() !== '' && value === '';
  return (
    <TextInput
      {...props}
      placeholder={example}
      maxLength={example.length}
      spellCheck={false}
      value={typed.text}
      error={isWrong ? `${t.format}: ${example}` : error}
      onFocus={() => setLeft(false)}
      onBlur={() => setLeft(true)}
      onChange={event => {
        const text = event.currentTarget.value;
        setTyped({ text, value: parse(text) });
        onChange(parse(text));
      }}
    />
  );
}
