export { type DeliveryHistory, deliveryHistory, listAttempts, pruneLog } from './admin/attempt-log.ts';
export { checkObject, checkPartner, type WebhookCheck } from './admin/check.ts';
export { type CheckProblem, type Probed, probeName, problemText } from './admin/check-problem.ts';
export { countDeliveries, type Delivery, findDelivery, listDeliveries } from './admin/deliveries.ts';
export type { DeliveryFilter } from './admin/delivery-statement.ts';
export {
  addEndpoint,
  maxEndpoints,
  moveWebhook,
  removeEndpoint,
  rotateSecret,
  setEd25519,
  setEvents,
  setWebhook,
} from './admin/endpoints.ts';
export { findEventsOf } from './admin/event-search.ts';
export { resendEvent, resendFailed } from './admin/resend.ts';
export { countFailed, maxResendBatch, resendFailedOf } from './admin/resend-failed.ts';
export {
  contractEvents,
  type Endpoint,
  type EventKind,
  eventKinds,
  findWebhook,
  listEndpoints,
  listWebhooks,
  partnersOf,
  type Webhook,
  worstState,
} from './admin/webhook.ts';
export {
  type EventReference,
  envelope,
  eventHeaders,
  formatEventId,
  parseEventId,
} from './delivery/envelope.ts';
export { findLastEvent, listEvents } from './delivery/feed.ts';
export { createVault, newSecret, readSecrets } from './delivery/secret.ts';
export { sign, standardHeaders, standardSecret } from './delivery/signatures.ts';
export { moveTestClock } from './delivery/test-mode.ts';
export { startDelivery } from './delivery/worker.ts';
export { firstEndpointOf } from './first-endpoint.ts';
export { createNameLookup, hasPrivateAddress, readWebhookAddress } from './http/dns.ts';
export { responseText } from './http/fault-texts.ts';
export type { SendResult } from './http/post.ts';
export { createSender } from './http/sender.ts';
export { checkWebhookUrl } from './http/ssrf-guard.ts';
export { readLatenessSec } from './lateness.ts';
export { createWebhookMetrics, webhookGauges } from './metrics.ts';
export {
  addSigningRoot,
  createSigningKeys,
  keySetObject,
  keySetPath,
  keySetPathsOf,
  listSigningRoots,
  type SigningKeys,
} from './signing/signing-keys.ts';
