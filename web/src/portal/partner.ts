import { createContext, use, useSyncExternalStore } from 'react';
import type { MemberRight, PartnerChoice, Session } from '../../../src/portal/shapes.ts';
import { outside, session } from '../api.ts';

/** The session of the signed-in person; pages are shown only with one. */
export function usePerson(): Session {
  const now = useSyncExternalStore(session.subscribe, session.get) as Session | null | undefined;
  if (!now) throw new Error('nobody is signed in');
  return now;
}

export const PartnerContext = createContext<PartnerChoice | undefined>(undefined);

/** The partner whose pages are open. */
export function usePartner() {
  const partner = use(PartnerContext);
  if (!partner) throw new Error('no partner is chosen');
  return {
    partner,
    /** A path of the partner's API. */
    api: (path: string) => `/partners/${partner.partner_id}${path}`,
    may: (right: MemberRight) => partner.rights.includes(right),
  };
}

export type Mode = 'live' | 'test';

const key = 'kopeck-portal-mode';
const chosenMode = outside<Mode | null>(localStorage.getItem(key) as Mode | null);

export function chooseMode(mode: Mode): void {
  localStorage.setItem(key, mode);
  chosenMode.set(mode);
}

/** A new partner has only test payments. */
export function useMode(): Mode {
  const chosen = useSyncExternalStore(chosenMode.subscribe, chosenMode.get);
  const partner = use(PartnerContext);
  return chosen ?? (partner?.is_live_approved ? 'live' : 'test');
}
