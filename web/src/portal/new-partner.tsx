import { Button, Group, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { NewPartner } from '../../../src/portal/shapes/access.ts';
import { send, session } from '../api.ts';
import { useNotify } from '../parts/notify.ts';
import { usePortal } from './texts/index.ts';

/** Test mode works at once; live mode when an operator has approved it. */
export function NewPartnerForm() {
  const t = usePortal().newPartner;
  const notify = useNotify();
  const [name, setName] = useState('');
  const [pending, setPending] = useState(false);
  async function submit(event: FormEvent) {
    event.preventDefault();
    setPending(true);
    try {
      const created = await send<NewPartner>('/new-partner', { name: name.trim() });
      setName('');
      notify.done(t.created);
      session.set(created.session);
    } catch (error) {
      notify.failed(error);
    } finally {
      setPending(false);
    }
  }
  return (
    <form onSubmit={event => void submit(event)}>
      <TextInput
        label={t.name}
        description={t.hint}
        maxLength={128}
        required
        withAsterisk={false}
        value={name}
        onChange={event => setName(event.currentTarget.value)}
      />
      <Group mt="sm">
        <Button type="submit" loading={pending} disabled={!name.trim()}>
          {t.create}
        </Button>
      </Group>
    </form>
  );
}
