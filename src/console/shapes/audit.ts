export interface AuditRow {
  audit_id: string;
  at: string;
  actor: string;
  action: string;
  subject: string;
  before: unknown;
  after: unknown;
}

/** How the log compares with the heads that have left the database. */
export interface AuditHeadsState {
  state: 'off' | 'contained' | 'missing' | 'unreachable';
  /** How many there are. */
  kept: number;
  /** The first of those that the log does not contain. */
  missing: { place: number; hash: string }[];
}
