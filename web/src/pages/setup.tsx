import { Alert, Stack } from '@mantine/core';
import { type FormEvent, useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import type { Enrolment, Session } from '../../../src/console/shapes.ts';
import { Refused, send, session } from '../api.ts';
import { TextField } from '../parts/fields.tsx';
import { useAttempt } from '../parts/notify.ts';
import { Waiting } from '../parts/page.tsx';
import { Copyable } from '../parts/values.tsx';
import { useSentence, useTexts } from '../texts/index.ts';
import { texts } from './sign-in.texts.ts';
import { CodeAndSubmit, SignInFrame } from './sign-in-frame.tsx';

/** The token is in the URL fragment, which browsers do not send to any server. */
export default function Setup() {
  const t = useTexts(texts);
  const sentence = useSentence();
  const [token] = useState(() => location.hash.slice(1));
  const [enrolment, setEnrolment] = useState<Enrolment | null>(null);
  const [refusal, setRefusal] = useState<unknown>(null);

  useEffect(() => {
    if (token) send<Enrolment>('/setup/look', { token }).then(setEnrolment, setRefusal);
  }, [token]);

  const wrong = !token
    ? t.noToken
    : refusal instanceof Refused && refusal.status > 0 && refusal.status < 500 && refusal.code !== 'throttled'
      ? t.badToken
      : refusal !== null && sentence(refusal);
  return (
    <SignInFrame title={t.setUp}>
      {wrong && (
        <Alert color="red" role="alert">
          {wrong}
        </Alert>
      )}
      {!wrong && !enrolment && <Waiting />}
      {enrolment && <Form token={token} enrolment={enrolment} />}
    </SignInFrame>
  );
}

function Form({ token, enrolment }: { token: string; enrolment: Enrolment }) {
  const t = useTexts(texts);
  const [, go] = useLocation();
  const [password, setPassword] = useState('');
  const [again, setAgain] = useState('');
  const [code, setCode] = useState('');
  const [tried, setTried] = useState(false);
  const { pending, refusal, attempt } = useAttempt();
  const tooShort = password.length < 12;
  const differ = password !== again;

  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (tooShort || differ) return;
    void attempt(async () => {
      session.set(await send<Session>('/setup', { token, password, code: code.replaceAll(' ', '') }));
      go('/', { replace: true });
    });
  };

  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        <p>{t.setUpLead(enrolment.name, t.roles[enrolment.role])}</p>
        <p>{t.scan}</p>
        <img
          className="setup-qr"
          src={`data:image/svg+xml,${encodeURIComponent(enrolment.totp_svg)}`}
          alt={t.qr}
        />
        <div>
          <p className="dim">{t.orType}</p>
          <Copyable text={enrolment.totp_secret} />
        </div>
        <input type="text" hidden readOnly autoComplete="username" value={enrolment.name} />
        <TextField
          label={t.choose}
          description={t.chooseHint}
          type="password"
          autoComplete="new-password"
          required
          withAsterisk={false}
          error={tried && tooShort && t.tooShort}
          value={password}
          onChange={setPassword}
        />
        <TextField
          label={t.again}
          type="password"
          autoComplete="new-password"
          required
          withAsterisk={false}
          error={tried && differ && t.notSame}
          value={again}
          onChange={setAgain}
        />
        <CodeAndSubmit code={code} onCode={setCode} refusal={refusal} pending={pending} submit={t.finish} />
      </Stack>
    </form>
  );
}
