import { TextInput, type TextInputProps } from '@mantine/core';
import { Icon } from './icon.tsx';

/** Where one types what is looked for; the key `/` leads here. */
export const SearchField = (props: TextInputProps) => (
  <TextInput type="search" leftSection={<Icon name="search" />} data-search {...props} />
);
