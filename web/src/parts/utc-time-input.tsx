import { TextInput, type TextInputProps } from '@mantine/core';
import { useState } from 'react';
import { useCommon } from '../texts/common.ts';

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

interface UtcInputProps extends Omit<TextInputProps, 'value' | 'onChange'> {
  /** Without a zone, as `datetime-local` has it; empty: none. */
  value: string;
  onChange: (value: string) => void;
}

/** A time in UTC, with 24 hours. The field of the browser follows its language: often the month comes first, and 12 hours. */
export const UtcTimeInput = (props: UtcInputProps) => (
  <UtcInput {...props} parse={parseTime} example="2026-11-15 22:00" />
);

/** A day in UTC: year, month, day. */
export const UtcDayInput = (props: UtcInputProps) => (
  <UtcInput {...props} parse={parseDay} example="2026-11-15" />
);

function UtcInput({
  value,
  onChange,
  error,
  parse,
  example,
  ...props
}: UtcInputProps & { parse: (text: string) => string; example: string }) {
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
