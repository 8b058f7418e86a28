import { Alert, Button } from '@mantine/core';
import { useState } from 'react';
import type { Identity, OtherPerson, SignInAnswer } from '../../../src/portal/shapes.ts';
import { hasSessionEnded } from '../api.ts';
import { useAttempt } from '../parts/notify.ts';
import { WhyRefused } from '../parts/page.tsx';
import { SignInCard } from '../parts/shell.tsx';
import { useSentence } from '../texts/common.ts';
import { isMiniApp, signInInstead, signInWithLink } from './arrival.ts';
import { usePortal } from './texts/index.ts';

/** There is no password: the bot knows who somebody is, and gives a link. */
export function SignIn({ botName, refusal }: { botName: string | null; refusal: unknown }) {
  const { signIn: t, errors } = usePortal();
  return (
    <SignInCard title={t.title} lead={t.lead}>
      <WhyRefused error={refusal} mb="md" />
      {refusal === null && hasSessionEnded() && (
        <Alert color="yellow" role="alert" mb="md">
          {errors.signed_out}
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

interface ArrivingProps {
  onAnswer(answer: SignInAnswer): void;
  onRefused(error: unknown): void;
}

/** Not before the reader asks for it: whether the device is remembered is their choice. */
export function SignInWithLink({ onAnswer, onRefused }: ArrivingProps) {
  const { signIn: t } = usePortal();
  const [isRemembered, setRemembered] = useState(false);
  const [pending, setPending] = useState(false);
  const submit = () => {
    setPending(true);
    signInWithLink(isRemembered).then(onAnswer, onRefused);
  };
  return (
    <SignInCard title={t.title} lead={t.lead}>
      <div className="portal-notices">
        <label>
          <input
            type="checkbox"
            checked={isRemembered}
            onChange={event => setRemembered(event.currentTarget.checked)}
          />
          {t.remember}
        </label>
      </div>
      <p className="dim">{t.rememberSays}</p>
      <Button fullWidth mt="md" loading={pending} onClick={submit}>
        {t.signIn}
      </Button>
    </SignInCard>
  );
}

interface Asked {
  question: OtherPerson;
  /** Null: the reader stays who they are. */
  onAnswer(answer: SignInAnswer | null): void;
}

/** Any site can open the portal with a link of its own. Names may be the same, so numbers and partners are shown too. */
export function OtherPersonQuestion({ question, onAnswer }: Asked) {
  const t = usePortal().otherPerson;
  const sentence = useSentence();
  const { pending, refusal, attempt } = useAttempt();
  const agree = () => void attempt(async () => onAnswer(await signInInstead(question)));
  const { signed_in, arriving } = question;
  return (
    <SignInCard title={t.title}>
      {signed_in ? (
        <WhoItIs heading={t.now} identity={signed_in} />
      ) : (
        <p className="sign-in-how">{t.somebodyElse}</p>
      )}
      <WhoItIs heading={t.arriving} identity={arriving} />
      <Alert color={refusal === null ? 'yellow' : 'red'} role="alert" my="md">
        {refusal === null ? t.warning : sentence(refusal)}
      </Alert>
      <Button fullWidth onClick={() => onAnswer(null)}>
        {signed_in ? t.stay : t.doNotSignIn}
      </Button>
      <Button fullWidth mt="xs" variant="default" loading={pending} onClick={agree}>
        {t.change}
      </Button>
    </SignInCard>
  );
}

function WhoItIs({ heading, identity: { person, partners } }: { heading: string; identity: Identity }) {
  const t = usePortal().otherPerson;
  return (
    <section className="identity" aria-label={heading}>
      <h2 className="dim">{heading}</h2>
      <p>
        <b>{person.name}</b> <span className="dim">{t.telegramId(person.user_id)}</span>
      </p>
      {partners.length === 0 && <p className="dim">{t.noPartners}</p>}
      <ul>
        {partners.map(({ partner_id, name }) => (
          <li key={partner_id}>
            {name} <code className="dim">{partner_id}</code>
          </li>
        ))}
      </ul>
    </section>
  );
}
