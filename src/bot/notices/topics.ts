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

export const topicOf: Record<NoticeKind, MutableTopic | 'security'> = {
  delivery_failed: 'delivery',
  sending_suspended: 'sending',
  sending_re_enabled: 'sending',
  payment_in_review: 'review',
  payment_review_ended: 'review',
  balance_low: 'low',
  balance_credited: 'credited',
  deposit_seen: 'credited',
  key_created: 'security',
  key_revoked: 'security',
  key_addresses_changed: 'security',
  key_rolled: 'security',
  key_expiring: 'security',
  key_new_address: 'security',
  endpoint_added: 'security',
  endpoint_moved: 'security',
  endpoint_removed: 'security',
  endpoint_secret_rotated: 'security',
  member_joined: 'security',
  member_removed: 'security',
  member_role_changed: 'security',
  live_approved: 'security',
  live_refused: 'security',
  maintenance_planned: 'maintenance',
  maintenance_cancelled: 'maintenance',
  maintenance_on: 'maintenance',
  maintenance_off: 'maintenance',
  rate_stale: 'rate',
  rate_fresh: 'rate',
};
