import type { MemberRole } from '../../partners/index.ts';
import type { AnySession } from '../../web/index.ts';

export type { SessionRow } from '../../web/index.ts';

/** The pages may import only from this folder, so it is exported again. */
export type { MemberRole };

export interface PartnerChoice {
  partner_id: string;
  name: string;
  role: MemberRole;
  is_suspended: boolean;
  /** Live keys can be created. */
  is_live_approved: boolean;
}

export interface Identity {
  person: { user_id: string; name: string };
  /** The partners in whose teams this person is. */
  partners: PartnerChoice[];
}

export interface Session extends Identity, AnySession {}

/** Instead of a session: the browser has one of another person. The same request with `replaces` signs in. */
export interface OtherPerson {
  question: 'other_person';
  /** The session that would be replaced. */
  session_id: string;
  /** Whose it is; null if it has ended. */
  signed_in: Identity | null;
  arriving: Identity;
}

export type SignInAnswer = Session | OtherPerson;

/** `GET /session/current`, the first request of a page: null when nobody is signed in, which is not an error. */
export interface CurrentSession {
  session: Session | null;
  /** The bot that gives links; null if it is not configured. */
  bot_name: string | null;
}

/** A partner that somebody has created or joined. */
export interface NewPartner {
  partner_id: string;
  session: Session;
}
