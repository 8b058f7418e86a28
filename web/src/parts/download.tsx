import { Button } from '@mantine/core';
import { useState } from 'react';
import { askFile } from '../api.ts';
import { useTell } from './tell.ts';

/** Saves a file of the server. Asked for by the page rather than by a link, so that a refusal is a sentence. */
export function Download({
  path,
  label,
  disabled = false,
  size = 'xs',
}: {
  path: string;
  label: string;
  disabled?: boolean;
  /** `sm` beside fields. */
  size?: 'xs' | 'sm';
}) {
  const tell = useTell();
  const [pending, setPending] = useState(false);
  async function save() {
    setPending(true);
    try {
      const { name, content } = await askFile(path);
      const address = URL.createObjectURL(content);
      Object.assign(document.createElement('a'), { href: address, download: name }).click();
      setTimeout(() => URL.revokeObjectURL(address), 60_000);
    } catch (error) {
      tell.failed(error);
    } finally {
      setPending(false);
    }
  }
  return (
    <Button size={size} variant="default" loading={pending} disabled={disabled} onClick={() => void save()}>
      {label}
    </Button>
  );
}
