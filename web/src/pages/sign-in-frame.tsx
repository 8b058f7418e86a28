import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { TextField } from '../parts/fields.tsx';
import { WhyRefused } from '../parts/page.tsx';
import { SignInCard } from '../parts/shell.tsx';
import { useShared, useTexts } from '../texts/index.ts';
import { texts } from './sign-in.texts.ts';

/** The frame of the sign-in and setup forms. */
export function SignInFrame({ title, children }: { title: string; children: ReactNode }) {
  const t = useShared();
  return (
    <SignInCard title={title} lead={`Kopeck · ${t.console}`}>
      {children}
    </SignInCard>
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
  return (
    <>
      <TextField
        label={t.code}
        description={t.codeHint}
        autoComplete="one-time-code"
        inputMode="numeric"
        pattern="[0-9 ]{6,7}"
        required
        withAsterisk={false}
        value={code}
        onChange={onCode}
      />
      <WhyRefused error={refusal} />
      <Button type="submit" loading={pending}>
        {submit}
      </Button>
    </>
  );
}
