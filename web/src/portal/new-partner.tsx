import { Button, Group } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { NewPartner } from '../../../src/portal/shapes.ts';
import { send, session, signOut } from '../api.ts';
import { TextField } from '../parts/fields.tsx';
import { useRun } from '../parts/notify.ts';
import { SignInCard } from '../parts/shell.tsx';
import { usePortal } from './texts/index.ts';

interface FormProps {
  label: string;
  hint: string;
  verb: string;
  done: string;
  maxLength: number;
  create: (text: string) => Promise<NewPartner>;
}

/** One field, after which the session has one more partner. */
function PartnerForm({ label, hint, verb, done, maxLength, create }: FormProps) {
  const { pending, run } = useRun();
  const [text, setText] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    run(async () => {
      const created = await create(text.trim());
      setText('');
      session.set(created.session);
    }, done);
  };
  return (
    <form onSubmit={submit}>
      <TextField
        label={label}
        description={hint}
        maxLength={maxLength}
        required
        withAsterisk={false}
        value={text}
        onChange={setText}
      />
      <Group mt="sm">
        <Button type="submit" loading={pending} disabled={!text.trim()}>
          {verb}
        </Button>
      </Group>
    </form>
  );
}

/** Test mode works at once; live mode when an operator has approved it. */
export function NewPartnerForm() {
  const t = usePortal().newPartner;
  return (
    <PartnerForm
      label={t.name}
      hint={t.hint}
      verb={t.create}
      done={t.created}
      maxLength={128}
      create={name => send<NewPartner>('/new-partner', { name })}
    />
  );
}

/** The bot opens invitations too; here they are pasted. */
export function JoinForm() {
  const t = usePortal().join;
  return (
    <PartnerForm
      label={t.label}
      hint={t.hint}
      verb={t.join}
      done={t.joined}
      maxLength={500}
      create={invitation => send<NewPartner>('/join', { invitation })}
    />
  );
}

/** For somebody who is in no team, or in none any more. */
export function NoPartner() {
  const { noPartner: t, signOut: verb } = usePortal();
  return (
    <SignInCard
      title={t.title}
      lead={t.lead}
      beside={
        <Button variant="subtle" size="xs" onClick={() => void signOut()}>
          {verb}
        </Button>
      }
    >
      <JoinForm />
      <NewPartnerForm />
    </SignInCard>
  );
}
