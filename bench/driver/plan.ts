/** The input of the driver process; its output is a `DriverReport`. */
export interface Plan {
  /** Such as http://127.0.0.1:8080. */
  address: string;
  /** Each request goes to a random target. */
  targets: Target[];
  /** POST a payment with a new QR code, or GET the path. */
  work: 'pay' | 'get';
  load: ClosedLoad | OpenLoad;
  warmUpMs: number;
  /** Results are counted in consecutive windows without a gap. */
  windowMs: number;
  windows: number;
}

export interface Target {
  path: string;
  key?: string;
}

/** A fixed number of connections; each sends its next request when the last one is answered. */
export interface ClosedLoad {
  connections: number;
  /** The connections start one after the other within this time, so that they do not send in step. */
  spreadMs?: number;
}

/** A fixed rate of requests, answered or not, over as many connections as needed, up to `maxConnections`. */
export interface OpenLoad {
  perSecond: number;
  maxConnections: number;
}

export interface DriverReport {
  startedAtMs: number;
  /** From the first request to the last answer, warm-up included. */
  succeeded: number;
  /** CPU time of the driver in the same time. */
  cpuMs: number;
  windows: Window[];
}

export interface Window {
  seconds: number;
  sent: number;
  /** Requests of an open load that were due while no connection was free. */
  unsent: number;
  succeeded: number;
  p50Ms: number;
  p99Ms: number;
  /** Other answers by status and code, such as `503 gateway_busy`. */
  refused: Record<string, number>;
  refusedP99Ms: number;
}
