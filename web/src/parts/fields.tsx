import { NativeSelect, type NativeSelectProps, TextInput, type TextInputProps } from '@mantine/core';
import { Icon } from './icon.tsx';

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
