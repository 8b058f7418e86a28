/** `money`: see payments, balances, files and the rate. `follow`: read QR codes and see deliveries of webhooks. `pay`: pay by hand.
 * `integrate`: test keys, webhooks and API requests. `own`: live keys, the team, limits. */
type Right = 'money' | 'follow' | 'pay' | 'integrate' | 'own';

/** The roles are no chain: a developer does not pay, and who pays has no keys. */
const rightsOfRoles = {
  viewer: ['money', 'follow'],
  accountant: ['money'],
  payer: ['money', 'follow', 'pay'],
  developer: ['money', 'follow', 'integrate'],
  owner: ['money', 'follow', 'pay', 'integrate', 'own'],
} as const satisfies Record<string, Right[]>;

export type MemberRight = Right;
export type MemberRole = keyof typeof rightsOfRoles;

/** In the order of the type `member_role` of the database. */
export const memberRoles = Object.keys(rightsOfRoles) as MemberRole[];

export const rightsOfRole = (role: MemberRole): readonly MemberRight[] => rightsOfRoles[role] ?? [];

export const hasRight = (role: MemberRole, right: MemberRight) => rightsOfRole(role).includes(right);

/** Whom to ask, for people who lack the right. */
export const rolesWith = (right: MemberRight) => memberRoles.filter(role => hasRight(role, right));
