import type { OperatorRole, Permission } from '../../operators/index.ts';
import type { AnySession, SessionRow as Row } from '../../web/index.ts';

/** The pages may import only from this folder, so both are exported again. */
export type { OperatorRole, Permission };

export interface Session extends AnySession {
  operator: { operator_id: string; name: string; role: OperatorRole };
  permissions: Permission[];
}

/** `GET /session/current`, the first request of a page: null when nobody is signed in, which is not an error. */
export interface CurrentSession {
  session: Session | null;
}

/** What an invited operator sees before choosing a password. */
export interface Enrolment {
  name: string;
  role: OperatorRole;
  totp_secret: string;
  totp_url: string;
  /** The QR code of `totp_url`, as SVG. */
  totp_svg: string;
  expires_at: string;
}

export interface OperatorRow {
  operator_id: string;
  name: string;
  role: OperatorRole;
  state: 'invited' | 'active' | 'disabled';
  created_at: string;
  last_seen_at: string | null;
}

/** Shown once, to the admin who created or reset an operator. */
export interface Invitation {
  operator_id: string;
  name: string;
  setup_url: string;
  expires_at: string;
}

export interface SessionRow extends Row {
  operator_id: string;
  operator: string;
  ends_at: string;
}
