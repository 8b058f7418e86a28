/** How long sessions of people live, in the console and in the portal. */
export const idleMs = 30 * 60_000;
export const maxAgeMs = 12 * 3_600_000;
/** Ended sessions stay for investigations: who was signed in, and from where. */
export const retentionMs = 90 * 86_400_000;
/** Activity is written at most this often, because a page sends requests every few seconds. */
export const lastSeenPrecisionMs = 60_000;
export const maxUserAgentLength = 200;

/** When a session ends without activity. */
export const idleEndOf = ({ lastSeenAt, endsAt }: { lastSeenAt: Date; endsAt: Date }) =>
  new Date(Math.min(lastSeenAt.getTime() + idleMs, endsAt.getTime()));
