export { Kopeck, type KopeckOptions, type StatementParams } from './client.ts';
export {
  AuthenticationError,
  ConnectionError,
  InvalidRequestError,
  KopeckError,
  NotFoundError,
  PaymentRefusedError,
  PermissionError,
  RateLimitError,
  ServiceUnavailableError,
  SignatureError,
  TimeoutError,
} from './errors.ts';
export type { Events, PositionStore, ReadOptions } from './events.ts';
export type { KeyStore } from './keys.ts';
export type { CallOptions, CreateOptions, PaymentList, Payments, WaitOptions } from './payments.ts';
export type { Fetch, Sleep } from './transport.ts';
export type * from './types.ts';
export {
  type RequestHeaders,
  signatureHeader,
  type VerifyOptions,
  verifyProof,
  verifyWebhook,
  type WebhookKeySet,
} from './webhook.ts';
