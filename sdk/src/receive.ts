import { SignatureError } from './errors.ts';
import type { PaymentEvent } from './types.ts';
import { type VerifyOptions, verifyWebhook } from './webhook.ts';

export interface WebhookOptions extends VerifyOptions {
  /** Your webhook secret; while it is being replaced, both. */
  secret: string | readonly string[];
  /**
   * What you do with an event. The service is told 200 when it is done, and sends the event again when it throws or
   * takes longer than 10 s: keep it short, and let it do no harm a second time.
   */
  onEvent(event: PaymentEvent): unknown;
}

export interface Reply {
  status: number;
  body: { received: true } | { error: { code: string; message: string } };
}

/** The service's webhooks are a few kilobytes; whoever sends more is somebody else. */
export const mostBytes = 1024 * 1024;

export const tooLarge: Reply = {
  status: 413,
  body: { error: { code: 'too_large', message: 'This is larger than any webhook.' } },
};

/** What to answer. Failures of `onEvent` go through to the framework, which answers 500 and knows where to log. */
export async function receive(
  rawBody: string | Uint8Array,
  header: string | string[] | null | undefined,
  { secret, onEvent, ...options }: WebhookOptions,
): Promise<Reply> {
  if (rawBody.length > mostBytes) return tooLarge;
  let event: PaymentEvent;
  try {
    event = await verifyWebhook(rawBody, header, secret, options);
  } catch (error) {
    if (!(error instanceof SignatureError)) throw error;
    return { status: 400, body: { error: { code: error.code, message: error.message } } };
  }
  await onEvent(event);
  return { status: 200, body: { received: true } };
}
