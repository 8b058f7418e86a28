export { listAttempts, pruneLog, resendEvent, resendFailed } from './admin/attempt-log.ts';
export type { WebhookCheck } from './admin/check.ts';
export { checkObject, checkPartner } from './admin/check-partner.ts';
export {
  type Delivery,
  type Endpoint,
  findDelivery,
  listDeliveries,
  listEndpoints,
} from './admin/deliveries.ts';
export { countDeliveries } from './admin/delivery-counts.ts';
export { type DeliveryHistory, deliveryHistory } from './admin/delivery-history.ts';
export type { DeliveryFilter } from './admin/delivery-statement.ts';
export {
  findWebhook,
  readSecrets,
  rotateSecret,
  setExtraEvents,
  setWebhook,
  type Webhook,
} from './admin/webhook.ts';
export {
  type EventReference,
  envelope,
  eventHeaders,
  formatEventId,
  parseEventId,
} from './delivery/envelope.ts';
export { findLastEvent, listEvents } from './delivery/feed.ts';
export { createVault, newSecret } from './delivery/secret.ts';
export { createSharedSlots, type SlotShare } from './delivery/shared-slots.ts';
export { sign } from './delivery/sign.ts';
export { moveTestClock } from './delivery/test-mode.ts';
export { startDelivery } from './delivery/worker.ts';
export { createNameLookup, hasPrivateAddress } from './http/dns.ts';
export { responseText } from './http/fault-texts.ts';
export type { SendResult } from './http/post.ts';
export { createSender } from './http/sender.ts';
export { checkWebhookUrl } from './http/ssrf-guard.ts';
export { createWebhookMetrics, webhookGauges } from './metrics.ts';
