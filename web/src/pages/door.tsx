import { Alert, Button, TextInput } from '@mantine/core';
import { type ReactNode, useEffect, useSyncExternalStore } from 'react';
import { connected } from '../api.ts';
import { useSentence, useShared, useTexts } from '../texts/index.ts';
import { Preferences } from '../who.tsx';
import { texts } from './door.texts.ts';

/** What stands around the forms of those who are not signed in. */
export function Door({ title, children }: { title: string; children: ReactNode }) {
  const t = useShared();
  const isConnected = useSyncExternalStore(connected.subscribe, connected.get);
  useEffect(() => {
    document.title = `${title} · Kopeck`;
  }, [title]);
  return (
    <main className="door">
      <div className="door-card">
        {!isConnected && (
          <div className="banner" role="status">
            {t.connectionLost}
          </div>
        )}
        <div className="door-head">
          <img src="/console/icon.svg" alt="" width={36} height={36} />
          <div>
            <h1>{title}</h1>
            <p className="dim">Kopeck · {t.console}</p>
          </div>
        </div>
        {children}
        <div className="door-side">
          <Preferences />
        </div>
      </div>
    </main>
  );
}

interface CodeProps {
  code: string;
  onCode(code: string): void;
  /** Why it was refused the last time. */
  refusal: unknown;
  pending: boolean;
  submit: string;
}

/** How both forms end: the code of now, what was wrong with it, and the button. */
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
