import type { MemberRole } from '../../partners/index.ts';

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

export interface Session extends Identity {
  /** Sent as `X-CSRF-Token` with every request that changes something. */
  csrf_token: string;
  /** The session ends at this time without activity, and at `ends_at` in any case. */
  idle_ends_at: string;
  ends_at: string;
}

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

export interface SessionRow {
  session_id: string;
  address: string;
  user_agent: string;
  created_at: string;
  last_seen_at: string;
  is_this_one: boolean;
}
