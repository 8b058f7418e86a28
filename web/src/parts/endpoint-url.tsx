import { TextInput } from '@mantine/core';

interface EndpointUrlProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
}

/** The URL of a webhook endpoint. */
export const EndpointUrl = ({ label, value, onChange }: EndpointUrlProps) => (
  <TextInput
    label={label}
    placeholder="https://shop.example/webhooks/kopeck"
    inputMode="url"
    spellCheck={false}
    maxLength={2048}
    value={value}
    onChange={event => onChange(event.currentTarget.value)}
  />
);
