import { TextField } from './fields.tsx';

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
