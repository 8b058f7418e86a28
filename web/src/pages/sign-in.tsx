import { Stack } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { Session } from '../../../src/console/shapes.ts';
import { hasSessionEnded, send, session } from '../api.ts';
import { TextField } from '../parts/fields.tsx';
import { useAttempt } from '../parts/notify.ts';
import { useTexts } from '../texts/index.ts';
import { texts } from './sign-in.texts.ts';
import { CodeAndSubmit, SignInFrame } from './sign-in-frame.tsx';

export default function SignIn() {
  const t = useTexts(texts);
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const { pending, refusal, attempt } = useAttempt();

  const submit = (event: FormEvent) => {
    event.preventDefault();
    const credentials = { name: name.trim(), password, code: code.replaceAll(' ', '') };
    // A code can be used once.
    const forget = () => setCode('');
    void attempt(async () => session.set(await send<Session>('/login', credentials)), forget);
  };

  return (
    <SignInFrame title={t.signIn}>
      <form onSubmit={submit}>
        <Stack gap="md">
          {refusal === null && hasSessionEnded() && <p className="dim">{t.ended}</p>}
          <TextField
            label={t.name}
            autoComplete="username"
            autoCapitalize="none"
            spellCheck={false}
            required
            withAsterisk={false}
            value={name}
            onChange={setName}
          />
          <TextField
            label={t.password}
            type="password"
            autoComplete="current-password"
            required
            withAsterisk={false}
            value={password}
            onChange={setPassword}
          />
          <CodeAndSubmit code={code} onCode={setCode} refusal={refusal} pending={pending} submit={t.signIn} />
        </Stack>
      </form>
    </SignInFrame>
  );
}
