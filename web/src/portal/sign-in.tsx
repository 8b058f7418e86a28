import { Alert, Button } from '@mantine/core';
import { hasSessionEnded } from '../api.ts';
import { SignInCard } from '../parts/shell.tsx';
import { useSentence } from '../texts/common.ts';
import { isMiniApp } from './arrival.ts';
import { usePortal } from './texts/index.ts';

/** There is no password: the bot knows who somebody is, and gives a link. */
export function SignIn({ botName, refusal }: { botName: string | null; refusal: unknown }) {
  const t = usePortal().signIn;
  const sentence = useSentence();
  return (
    <SignInCard title={t.title} lead={t.lead}>
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
    </SignInCard>
  );
}
