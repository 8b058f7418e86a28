/** A call that the Bot API answers with `ok: false`. */
export class Refusal extends Error {
  readonly code: number;
  readonly retryAfter: number | undefined;
  /** The call could never have succeeded, whatever the state of chats: a mistake in the bot. */
  readonly isViolation: boolean;

  constructor(code: number, description: string, more: { retryAfter?: number; isViolation?: boolean } = {}) {
    super(description);
    this.code = code;
    this.retryAfter = more.retryAfter;
    this.isViolation = more.isViolation ?? false;
  }
}

/** Refused because of how things stand; a bot has to expect it. */
export const badRequest = (what: string) => new Refusal(400, `Bad Request: ${what}`);

/** Refused because the call itself is wrong; a bot must never do it. */
export const violation = (what: string) => new Refusal(400, `Bad Request: ${what}`, { isViolation: true });
