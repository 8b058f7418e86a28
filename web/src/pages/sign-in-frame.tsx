import { Alert, Button, TextInput } from '@mantine/core';
import { type ReactNode, useEffect, useSyncExternalStore } from 'react';
import { connected } from '../api.ts';
import { Preferences } from '../parts/preferences.tsx';
import { useSentence, useShared, useTexts } from '../texts/index.ts';
import { texts } from './sign-in.texts.ts';

/** The frame of the sign-in and setup forms. */
export function SignInFrame({ title, children }: { title: string; children: ReactNode }) {
  const t = useShared();
  const isConnected = useSyncExternalStore(connected.subscribe, connected.get);
  useEffect(() => {
    document.title = `${title} · Kopeck`;
  }, [title]);
  return (
    <main className="sign-in">
      <div className="sign-in-card">
        {!isConnected && (
          <div className="banner" role="status">
            {t.connectionLost}
          </div>
        )}
        <div className="sign-in-head">
          <img src="/console/icon.svg" alt="" width={36} height={36} />
          <div>
            <h1>{title}</h1>
            <p className="dim">Kopeck · {t.console}</p>
          </div>
        </div>
        {children}
        <div className="sign-in-side">
          <Preferences />
        </div>
      </div>
    </main>
  );
}

interface CodeProps {
  code: string;
  onCode(code: string): void;
  /** The error of the last attempt. */
  refusal: unknown;
  pending: boolean;
  submit: string;
}

/** The end of both forms: the one-time code, the last error, and the button. */
export function CodeAndSubmit({ code, onCode, refusal, pending, submit }: CodeProps) {
  const t = useTexts(texts);
  const sentence = useSentence();
  return (
    <>
      <TextInput
        label={t.code}
        description={t.codeHint}
        autoComplete="one-time-code"
        inputMode="numeric"
        pattern="[0-9 ]{6,7}"
        required
        withAsterisk={false}
        value={code}
        onChange={event => onCode(event.currentTarget.value)}
      />
      {refusal !== null && (
        <Alert color="red" role="alert">
          {sentence(refusal)}
        </Alert>
      )}
      <Button type="submit" loading={pending}>
        {submit}
      </Button>
    </>
  );
}
