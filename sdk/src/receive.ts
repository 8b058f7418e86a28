import { SignatureError } from './errors.ts';
import type { PaymentEvent } from './types.ts';
import { type RequestHeaders, type VerifyOptions, verifyWebhook } from './webhook.ts';

export interface WebhookOptions extends VerifyOptions {
  /** Your webhook secret; while it is being replaced, both. */
  secret: string | readonly string[];
  /**
   * Handles an event. The service gets 200 when it is done, and sends the event again when it throws or takes longer
   * than 10 s: keep it short and idempotent.
   */
  onEvent(event: PaymentEvent): unknown;
}

export interface Reply {
  status: number;
  body: { received: true } | { error: { code: string; message: string } };
}

/** The service's webhooks are a few kilobytes; a larger body is not from the service. */
export const maxBytes = 1024 * 1024;

export const tooLarge: Reply = {
  status: 413,
  body: { error: { code: 'too_large', message: 'The body is larger than any webhook.' } },
};

/** What to answer. Errors of `onEvent` reach the framework, which answers 500 and logs them. */
export async function receive(
  rawBody: string | Uint8Array,
  headers: RequestHeaders,
  { secret, onEvent, ...options }: WebhookOptions,
): Promise<Reply> {
  if (rawBody.length > maxBytes) return tooLarge;
  let event: PaymentEvent;
  try {
    event = await verifyWebhook(rawBody, headers, secret, options);
  } catch (error) {
    if (!(error instanceof SignatureError)) throw error;
    return { status: 400, body: { error: { code: error.code, message: error.message } } };
  }
  await onEvent(event);
  return { status: 200, body: { received: true } };
}
