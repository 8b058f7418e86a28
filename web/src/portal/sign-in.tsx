import { Alert, Button } from '@mantine/core';
import { useEffect } from 'react';
import { hasSessionEnded } from '../api.ts';
import { Preferences } from '../parts/preferences.tsx';
import { useSentence } from '../texts/common.ts';
import { isMiniApp } from './arrival.ts';
import { usePortal } from './texts/index.ts';

/** There is no password: the bot knows who somebody is, and gives a link. */
export function SignIn({ botName, refusal }: { botName: string | null; refusal: unknown }) {
  const t = usePortal().signIn;
  const sentence = useSentence();
  useEffect(() => {
    document.title = `${t.title} · Kopeck`;
  }, [t.title]);
  return (
    <main className="sign-in">
      <div className="sign-in-card">
        <div className="sign-in-head">
          <img src="/portal/icon.svg" alt="" width={36} height={36} />
          <div>
            <h1>{t.title}</h1>
            <p className="dim">{t.lead}</p>
          </div>
        </div>
        {refusal !== null && (
          <Alert color="red" role="alert" mb="md">
            {sentence(refusal)}
          </Alert>
        )}
        {refusal === null && hasSessionEnded() && (
          <Alert color="yellow" role="alert" mb="md">
            {t.ended}
          </Alert>
        )}
        <p className="sign-in-how">{isMiniApp ? t.again : t.how}</p>
        {botName && !isMiniApp && (
          <Button component="a" href={`https://t.me/${botName}`} fullWidth mt="md">
            {t.openBot}
          </Button>
        )}
        <div className="sign-in-side">
          <Preferences />
        </div>
      </div>
    </main>
  );
}
