import { setTimeout as sleep } from 'node:timers/promises';
import { type Connection, openConnection } from './connection.ts';
import type { ClosedLoad, OpenLoad, Plan } from './plan.ts';
import { createRequests, objectionTo } from './requests.ts';
import type { Tally } from './tally.ts';

export interface Load {
  /** Sends nothing more and waits for the answers that are still to come. */
  stop(): Promise<void>;
}

/** Whoever has not answered by then never will. */
const lastAnswersMs = 20_000;

export function startLoad(plan: Plan, tally: Tally): Load {
  return 'connections' in plan.load ? closedLoad(plan, plan.load, tally) : openLoad(plan, plan.load, tally);
}

/** A connection that reports each answer and how long it took. */
function openCounted(plan: Plan, tally: Tally, onFree: () => void, onLost: () => void): Connection {
  let sentAt = 0;
  const connection = openConnection(
    new URL(plan.address),
    (status, body) => {
      tally.answered(objectionTo(plan.work, status, body), performance.now() - sentAt);
      onFree();
    },
    () => {
      tally.lost();
      onLost();
    },
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

function closedLoad(plan: Plan, { connections }: ClosedLoad, tally: Tally): Load {
  const nextRequest = createRequests(plan);
  let isStopped = false;
  const ends = Array.from(
    { length: connections },
    () =>
      new Promise<void>(ended => {
        const goOn = () => {
          if (!isStopped) return connection.send(nextRequest());
          connection.close();
          ended();
        };
        // A connection that is lost fails the whole run, so it is not opened again.
        const connection = openCounted(plan, tally, goOn, ended);
        goOn();
      }),
  );
  return {
    stop: async () => {
      isStopped = true;
      await Promise.race([Promise.all(ends), sleep(lastAnswersMs, undefined, { ref: false })]);
    },
  };
}

const tickMs = 1;

function openLoad(plan: Plan, { perSecond, atMost }: OpenLoad, tally: Tally): Load {
  const nextRequest = createRequests(plan);
  const free: Connection[] = [];
  const all = new Set<Connection>();
  const startedAt = performance.now();
  let offered = 0;

  function openAnother(): Connection {
    const connection = openCounted(
      plan,
      tally,
      () => void free.push(connection),
      () => {
        all.delete(connection);
        const place = free.indexOf(connection);
        if (place >= 0) free.splice(place, 1);
      },
    );
    all.add(connection);
    return connection;
  }

  function offer(): void {
    const connection = free.pop() ?? (all.size < atMost ? openAnother() : undefined);
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
      const giveUpAt = performance.now() + lastAnswersMs;
      while (free.length < all.size && performance.now() < giveUpAt) await sleep(10);
      for (const connection of all) connection.close();
    },
  };
}
