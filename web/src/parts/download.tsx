import { Button } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useState } from 'react';
import { askFile } from '../api.ts';
import { useSentence } from '../texts/index.ts';

/** Saves a file of the server. Asked for by the page rather than by a link, so that a refusal is a sentence. */
export function Download({
  path,
  label,
  disabled = false,
}: {
  path: string;
  label: string;
  disabled?: boolean;
}) {
  const sentence = useSentence();
  const [pending, setPending] = useState(false);
  async function save() {
    setPending(true);
    try {
      const { name, content } = await askFile(path);
      const address = URL.createObjectURL(content);
      Object.assign(document.createElement('a'), { href: address, download: name }).click();
      setTimeout(() => URL.revokeObjectURL(address), 60_000);
    } catch (error) {
      notifications.show({ message: sentence(error), color: 'red', role: 'alert', autoClose: 10_000 });
    } finally {
      setPending(false);
    }
  }
  return (
    <Button size="xs" variant="default" loading={pending} disabled={disabled} onClick={() => void save()}>
      {label}
    </Button>
  );
}
