/** A simulated failure instead of an answer. */
export type Fault =
  | { kind: 'tooManyRequests'; retryAfter: number }
  /** An HTML page of a proxy, not JSON. */
  | { kind: 'serverError'; status: 500 | 502 }
  /** No answer at all, until the caller gives up. */
  | { kind: 'hang' }
  /** The connection breaks before anything is done. */
  | { kind: 'disconnect' }
  /** The call is executed, and the connection breaks before the answer. */
  | { kind: 'answerLost' };

/** Which calls it affects; without a method all but getUpdates, since a poller would consume it. */
export interface FaultScope {
  times?: number;
  method?: string;
  chatId?: number;
}

export interface Faults {
  add(fault: Fault, scope?: FaultScope): void;
  take(method: string, values: Record<string, unknown>): Fault | undefined;
  clear(): void;
}

export function createFaults(): Faults {
  let planned: { fault: Fault; scope: FaultScope; left: number }[] = [];
  return {
    add: (fault, scope = {}) => void planned.push({ fault, scope, left: scope.times ?? 1 }),
    take: (method, values) => {
      const hit = planned.find(({ scope }) => isHit(scope, method, values));
      if (!hit) return undefined;
      hit.left -= 1;
      planned = planned.filter(({ left }) => left > 0);
      return hit.fault;
    },
    clear: () => {
      planned = [];
    },
  };
}

function isHit(scope: FaultScope, method: string, values: Record<string, unknown>): boolean {
  if (scope.method === undefined ? method === 'getUpdates' : scope.method !== method) return false;
  // In a form every value is text.
  return scope.chatId === undefined || String(scope.chatId) === String(values.chat_id);
}
