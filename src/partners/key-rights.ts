import { formatKopecks } from '../base/money.ts';

/** `read`: everything that changes nothing. `pay`: payments, and what changes something in test mode. A key has one or both. */
export const scopes = ['read', 'pay'] as const;
export type Scope = (typeof scopes)[number];

/** What a key may do. It never changes: processes cache it, and the hash of a limited key is made for it. */
export interface KeyRights {
  scopes: Scope[];
  /** The most for one payment, beside the limit of the partner; null: no limit. */
  maxKopecks: bigint | null;
  /** The most for a day (UTC), counted as the daily limit of the partner; null: no limit. */
  dailyKopecks: bigint | null;
}

export const allRights: KeyRights = { scopes: [...scopes], maxKopecks: null, dailyKopecks: null };

/** False for keys with all rights, such as those that were created before keys had any. */
export const isLimited = ({ scopes: granted, maxKopecks, dailyKopecks }: KeyRights) =>
  granted.length < scopes.length || maxKopecks !== null || dailyKopecks !== null;

/** As they are stored. */
export const rightsColumns = 'k.scopes, k.max_kopecks AS "maxKopecks", k.daily_kopecks AS "dailyKopecks"';

export const toRights = ({ scopes: granted, maxKopecks, dailyKopecks }: KeyRights): KeyRights => ({
  scopes: scopes.filter(scope => granted.includes(scope)),
  maxKopecks,
  dailyKopecks,
});

/** The rights as the console and the command line show them. */
export const rightsObject = ({ scopes: granted, maxKopecks, dailyKopecks }: KeyRights) => ({
  scopes: granted,
  max_payment_rub: maxKopecks === null ? null : formatKopecks(maxKopecks),
  max_day_rub: dailyKopecks === null ? null : formatKopecks(dailyKopecks),
});
