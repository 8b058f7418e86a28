import type { NoticeKind } from '../../db/notices/index.ts';

/** Groups of notices that a user can mute; security notices cannot be muted. */
export const mutableTopics = [
  'delivery',
  'sending',
  'review',
  'low',
  'credited',
  'maintenance',
  'rate',
] as const;
export type MutableTopic = (typeof mutableTopics)[number];

/** All other notices are about security: keys, endpoints, members, live mode. */
const topics: { [kind in NoticeKind]?: MutableTopic } = {
  delivery_failed: 'delivery',
  sending_suspended: 'sending',
  sending_re_enabled: 'sending',
  payment_in_review: 'review',
  payment_review_ended: 'review',
  balance_low: 'low',
  balance_credited: 'credited',
  deposit_seen: 'credited',
  maintenance_planned: 'maintenance',
  maintenance_cancelled: 'maintenance',
  maintenance_on: 'maintenance',
  maintenance_off: 'maintenance',
  rate_stale: 'rate',
  rate_fresh: 'rate',
};

export const topicOf = (kind: NoticeKind) => topics[kind] ?? 'security';
