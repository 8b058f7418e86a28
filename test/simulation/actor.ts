/** One participant of a run: the partners, the operator, process failures, the administration of webhooks. */
export interface Actor {
  /** Schedules its actions. */
  plan(span: Span): void | Promise<void>;
  /** No faults are injected from now on. */
  stopFaults?(): void;
  /** It waits for nothing and has nothing left to do. */
  isDone?(): boolean;
}

export interface Span {
  /** How long partners request new payments. */
  busyMs: number;
  /** When fault injection stops. */
  faultsEndAfterMs: number;
}
