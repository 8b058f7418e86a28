import { Button } from '@mantine/core';
import { signOut } from '../api.ts';
import { Preferences } from '../parts/preferences.tsx';
import { useCommon } from '../texts/common.ts';
import { JoinForm, NewPartnerForm } from './new-partner.tsx';
import { usePortal } from './texts/index.ts';

/** For somebody who is in no team, or in none any more. */
export function NoPartner() {
  const t = usePortal().noPartner;
  const common = useCommon();
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
        <JoinForm />
        <NewPartnerForm />
        <div className="sign-in-side">
          <Preferences />
          <Button variant="subtle" size="xs" onClick={() => void signOut()}>
            {common.signOut}
          </Button>
        </div>
      </div>
    </main>
  );
}
