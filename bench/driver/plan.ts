/** What the driver is told over its input, and what it answers over its output. */
export interface Plan {
  /** Such as http://127.0.0.1:8080. */
  address: string;
  /** Of each request, one drawn by lot says where it goes and with whose key. */
  targets: Target[];
  /** POST a payment of a code that nobody has paid yet, or GET what is there. */
  work: 'pay' | 'get';
  load: ClosedLoad | OpenLoad;
  warmUpMs: number;
  /** Counting is done by the window, one after the other without a pause. */
  windowMs: number;
  windows: number;
}

export interface Target {
  path: string;
  key?: string;
}

/** So many connections, each with its next request as soon as the last one is answered. */
export interface ClosedLoad {
  connections: number;
}

/** So many requests a second, answered or not, over as many connections as that takes and no more than `atMost`. */
export interface OpenLoad {
  perSecond: number;
  atMost: number;
}

export interface DriverReport {
  startedAtMs: number;
  /** From the first request to the last answer, warm-up included. */
  succeeded: number;
  windows: Window[];
}

export interface Window {
  seconds: number;
  sent: number;
  /** Requests of an open load whose time had come while no connection was free. */
  unsent: number;
  succeeded: number;
  p50Ms: number;
  p99Ms: number;
  /** Any other answer, by its status and code, such as `503 gateway_busy`. */
  refused: Record<string, number>;
  refusedP99Ms: number;
}
