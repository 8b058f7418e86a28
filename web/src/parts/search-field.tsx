import { TextInput, type TextInputProps } from '@mantine/core';
import { Icon } from './icon.tsx';

/** The search field; the key `/` moves the focus here. */
export const SearchField = (props: TextInputProps) => (
  <TextInput type="search" leftSection={<Icon name="search" />} data-search {...props} />
);
