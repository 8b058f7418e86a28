import { Button } from '@mantine/core';
import { signOut } from '../api.ts';
import { SignInCard } from '../parts/shell.tsx';
import { useCommon } from '../texts/common.ts';
import { JoinForm, NewPartnerForm } from './new-partner.tsx';
import { usePortal } from './texts/index.ts';

/** For somebody who is in no team, or in none any more. */
export function NoPartner() {
  const t = usePortal().noPartner;
  const common = useCommon();
  return (
    <SignInCard
      title={t.title}
      lead={t.lead}
      beside={
        <Button variant="subtle" size="xs" onClick={() => void signOut()}>
          {common.signOut}
        </Button>
      }
    >
      <JoinForm />
      <NewPartnerForm />
    </SignInCard>
  );
}
