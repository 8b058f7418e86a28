/** Somebody who acts in a run: partners, an operator, bad luck, people who see to webhooks. */
export interface Actor {
  /** Puts on the schedule what it will do. */
  plan(span: Span): void | Promise<void>;
  /** Nothing goes wrong from now on. */
  becomeCalm?(): void;
  /** Whether it neither waits for anything nor means to do anything more. */
  isContent?(): boolean;
}

export interface Span {
  /** Partners ask for new payments for so long. */
  busyMs: number;
  /** And things go wrong for so long. */
  calmAfterMs: number;
}
