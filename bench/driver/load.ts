import { setTimeout as sleep } from 'node:timers/promises';
import { type Connection, openConnection } from './connection.ts';
import type { ClosedLoad, OpenLoad, Plan } from './plan.ts';
import { createRequests, unexpectedAnswer } from './requests.ts';
import type { Tally } from './tally.ts';

export interface Load {
  /** Stops sending and waits for the outstanding answers. */
  stop(): Promise<void>;
}

const maxDrainMs = 20_000;

export function startLoad(plan: Plan, tally: Tally): Load {
  return 'connections' in plan.load ? closedLoad(plan, plan.load, tally) : openLoad(plan, plan.load, tally);
}

/** A connection that records each answer and its latency. */
function openMeteredConnection(
  plan: Plan,
  tally: Tally,
  onFree: () => void,
  onLost: () => void,
  localAddress?: string,
): Connection {
  let sentAt = 0;
  const connection = openConnection(
    new URL(plan.address),
    (status, body) => {
      tally.answered(unexpectedAnswer(plan.work, status, body), performance.now() - sentAt);
      onFree();
    },
    () => {
      tally.lost();
      onLost();
    },
    localAddress,
  );
  return {
    ...connection,
    send: request => {
      sentAt = performance.now();
      tally.sent();
      connection.send(request);
    },
  };
}

function closedLoad(plan: Plan, { connections, spreadMs = 0 }: ClosedLoad, tally: Tally): Load {
  const nextRequest = createRequests(plan);
  let isStopped = false;
  const ends = Array.from(
    { length: connections },
    (_, index) =>
      new Promise<void>(ended => {
        const sendNext = () => {
          if (!isStopped) return connection.send(nextRequest());
          connection.close();
          ended();
        };
        // A lost connection fails the whole run, so it is not opened again.
        const connection = openMeteredConnection(plan, tally, sendNext, ended);
        setTimeout(sendNext, (index * spreadMs) / connections);
      }),
  );
  return {
    stop: async () => {
      isStopped = true;
      await Promise.race([Promise.all(ends), sleep(maxDrainMs, undefined, { ref: false })]);
    },
  };
}

const tickMs = 1;

/** The service bounds the connections of one address; only on Linux all of 127/8 are addresses of the machine. */
const addresses =
  process.platform === 'linux' ? [1, 2, 3, 4, 5, 6, 7, 8].map(last => `127.0.0.${last}`) : ['127.0.0.1'];

function openLoad(plan: Plan, { perSecond, maxConnections }: OpenLoad, tally: Tally): Load {
  const nextRequest = createRequests(plan);
  const free: Connection[] = [];
  const all = new Set<Connection>();
  const startedAt = performance.now();
  let offered = 0;
  let opened = 0;

  function openAnother(): Connection {
    const connection = openMeteredConnection(
      plan,
      tally,
      () => void free.push(connection),
      () => {
        all.delete(connection);
        const place = free.indexOf(connection);
        if (place >= 0) free.splice(place, 1);
      },
      addresses[opened++ % addresses.length],
    );
    all.add(connection);
    return connection;
  }

  function offer(): void {
    const connection = free.pop() ?? (all.size < maxConnections ? openAnother() : undefined);
    if (connection) connection.send(nextRequest());
    else tally.unsent();
  }

  const timer = setInterval(() => {
    const due = ((performance.now() - startedAt) * perSecond) / 1_000;
    for (; offered < due; offered++) offer();
  }, tickMs);

  return {
    stop: async () => {
      clearInterval(timer);
      const deadline = performance.now() + maxDrainMs;
      while (free.length < all.size && performance.now() < deadline) await sleep(10);
      for (const connection of all) connection.close();
    },
  };
}
