import type { Language } from '../bot/index.ts';
import type { MemberRole } from '../partners/index.ts';
import type {
  AnySession,
  EndpointRow as Endpoint,
  TimelineItem as Item,
  KeyRow,
  Limits,
  ModeName,
  Page,
  PaymentFacts,
  PaymentRow,
  PaymentStatus,
} from '../web/index.ts';

/** The pages may import only this file and the shared shapes, so these are exported again. */
export type {
  CheckResult,
  DeliveryDetail,
  DeliveryRow,
  LoggedRequestRow,
  SessionRow,
} from '../web/index.ts';
export type { KeyRow, Limits, MemberRole, PaymentRow };

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

/** All keys, the newest first. */
export type KeyList = Page<KeyRow>;

/** The only answer with a key. */
export interface NewKey {
  key_id: string;
  key: string;
}

interface Money {
  available_usdt: string;
  held_usdt: string;
}

export interface Balance {
  live: Money;
  test: Money;
  limits: Limits;
  /** The bot notifies the team below it; null: never. */
  alert_usdt: string | null;
  /** Where to send USDT; empty: support gives an address. */
  addresses: {
    chain: string;
    /** The name of the chain for people. */
    title: string;
    address: string;
    /** Its QR code. */
    qr_svg: string;
    min_usdt: string;
    usual_minutes: number;
  }[];
  /** The newest first. */
  credits: { mode: ModeName; amount_usdt: string; reference: string; at: string }[];
}

export interface DepositRow {
  deposit_id: string;
  chain: string;
  state: 'pending' | 'dropped' | 'screening' | 'accumulating' | 'credited' | 'held' | 'rejected';
  amount_usdt: string;
  transaction_id: string;
  seen_at: string;
  credited_at: string | null;
}

export interface Overview {
  mode: ModeName;
  /** The oldest first, UTC, without gaps; null: not counted yet, the next answer may have it. */
  days: ({
    day: string;
    created: number;
    succeeded: number;
    failed: number;
    /** The sum of payments that succeeded. */
    turnover_rub: string;
    /** At the end of the day, or now. */
    available_usdt: string;
  } | null)[];
  /** All these days together. `success_share` counts finished payments; null when there are none. */
  created: number;
  succeeded: number;
  failed: number;
  success_share: number | null;
  turnover_rub: string;
  spent_usdt: string;
  is_complete: boolean;
  balance: { available_usdt: string; held_usdt: string };
  rate: { rate: string; as_of: string; is_stale: boolean } | null;
  limits: Limits;
  webhook_state: 'none' | 'active' | 'failing' | 'suspended';
  is_maintenance: boolean;
}

/** Sums over the payments that a search finds. */
export interface PaymentTotals {
  /** Those with payments. */
  totals: { state: PaymentStatus | 'manual_review'; count: number; rub: string; usdt: string }[];
  /** False: there are too many payments, and only the newest were counted. */
  is_complete: boolean;
}

export interface PaymentDetail {
  payment: PaymentRow &
    PaymentFacts & {
      /** The locked quote that its rate is from; null: it has the rate of its time. */
      quote: { quote_id: string; locked_at: string } | null;
    };
  /** The oldest first. */
  timeline: TimelineItem[];
}

export type TimelineItem = Item<'phase' | 'entry' | 'event' | 'delivery'>;

/** A QR code that was resolved; nothing is paid. */
export interface ResolvedQr {
  qrc_id: string;
  recipient: string;
  purpose: string;
  amount_rub: string;
  /** Null: the rate is out of date, and payments are closed. */
  amount_usdt: string | null;
  /** Why a payment of it would be refused; null: it would not. */
  why_not: 'recipient_blocked' | 'below_minimum' | 'above_maximum' | null;
}

/** What the QR code in a photo says. */
export interface QrPhoto {
  qr_url: string;
}

/** What a partner gets for 1 USDT, and what an amount costs. */
export interface RatePage {
  /** Null: there is no rate yet. */
  now: { rate: string; as_of: string; max_age_sec: number; is_stale: boolean } | null;
  /** The oldest first. */
  history: { at: string; rate: string }[];
}

export interface Quote {
  amount_rub: string;
  amount_usdt: string;
  rate: string;
  /** Payments are closed until the rate is fresh. */
  is_stale: boolean;
  /** Whether the limits of the partner allow a payment of this amount. */
  is_within_limits: boolean;
  /** What it costs with a locked rate; null: this service locks none. */
  locked: { amount_usdt: string; rate: string; lifetime_sec: number } | null;
}

export interface LockedQuotes {
  /** That a payment can still use; those that expire first are at the top. */
  data: {
    quote_id: string;
    amount_rub: string;
    amount_usdt: string;
    rate: string;
    locked_at: string;
    expires_at: string;
  }[];
  /** The sum of all of them, and how much may be locked at the same time. */
  locked_usdt: string;
  max_usdt: string;
}

export interface NoticeSettings {
  /** The language of the bot's messages; null: this person has never written to the bot. */
  language: Language | null;
  /** Notices of the bot that can be muted; those about security cannot. */
  topics: { topic: string; is_muted: boolean }[];
}

export interface MemberRow {
  user_id: string;
  name: string;
  role: MemberRole;
  joined_at: string;
  is_you: boolean;
}

export interface Team {
  data: MemberRow[];
  max_members: number;
}

/** For one person, once, within a day. */
export interface Invitation {
  /** What the person sends to the bot. */
  command: string;
  /** Opens the bot with that command; null if the name of the bot is not configured. */
  url: string | null;
}

export interface EndpointRow extends Endpoint {
  /** Where its public keys are, live before test. */
  public_keys: string[];
  /** Until then the secret before the last change signs as well. */
  old_secret_until: string | null;
}

export interface WebhookPage {
  /** The first one of the contract, then the others; empty: no address is set. */
  endpoints: EndpointRow[];
  event_kinds: string[];
  /** Per mode. */
  max_endpoints: number;
}

/** The newest first. */
export interface Secrets {
  secrets: string[];
}
