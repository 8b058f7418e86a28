import { Button } from '@mantine/core';
import { useState } from 'react';
import { askFile } from '../api.ts';
import { useNotify } from './notify.ts';

interface DownloadProps {
  path: string;
  label: string;
  disabled?: boolean;
  /** `sm` next to fields. */
  size?: 'xs' | 'sm';
}

/** Saves a file of the server. The page requests it instead of a link, so that it can show an error. */
export function Download({ path, label, disabled = false, size = 'xs' }: DownloadProps) {
  const notify = useNotify();
  const [pending, setPending] = useState(false);
  async function save() {
    setPending(true);
    try {
      const { name, content } = await askFile(path);
      const address = URL.createObjectURL(content);
      Object.assign(document.createElement('a'), { href: address, download: name }).click();
      setTimeout(() => URL.revokeObjectURL(address), 60_000);
    } catch (error) {
      notify.failed(error);
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
