export { listAttempts, pruneLog } from './admin/attempt-log.ts';
export type { WebhookCheck } from './admin/check.ts';
export { checkObject, checkPartner } from './admin/check-partner.ts';
export {
  type Delivery,
  findDelivery,
  listDeliveries,
} from './admin/deliveries.ts';
export { countDeliveries } from './admin/delivery-counts.ts';
export { type DeliveryHistory, deliveryHistory } from './admin/delivery-history.ts';
export type { DeliveryFilter } from './admin/delivery-statement.ts';
export { type Endpoint, listEndpoints, worstState } from './admin/endpoint-states.ts';
export { addEndpoint, maxEndpoints, removeEndpoint } from './admin/endpoints.ts';
export { readWebhookAddress } from './admin/read-address.ts';
export { resendEvent, resendFailed } from './admin/resend.ts';
export { readSecrets, rotateSecret } from './admin/secrets.ts';
export { setEd25519 } from './admin/signatures.ts';
export {
  contractEvents,
  type EventKind,
  eventKinds,
  findWebhook,
  listWebhooks,
  moveWebhook,
  setEvents,
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
export { sign } from './delivery/sign.ts';
export { standardHeaders, standardSecret } from './delivery/standard-webhooks.ts';
export { moveTestClock } from './delivery/test-mode.ts';
export { startDelivery } from './delivery/worker.ts';
export { firstEndpointOf } from './first-endpoint.ts';
export { createNameLookup, hasPrivateAddress } from './http/dns.ts';
export { responseText } from './http/fault-texts.ts';
export type { SendResult } from './http/post.ts';
export { createSender } from './http/sender.ts';
export { checkWebhookUrl } from './http/ssrf-guard.ts';
export { createWebhookMetrics, webhookGauges } from './metrics.ts';
export { keySetObject, keySetPath, keySetPathsOf } from './signing/key-set.ts';
export {
  addSigningRoot,
  createSigningKeys,
  listSigningRoots,
  type SigningKeys,
} from './signing/signing-keys.ts';
