import type { Mode } from '../../src/ledger/index.ts';
import { listEvents } from '../../src/webhooks/index.ts';
import type { Account } from './accounts.ts';
import type { Histories, History } from './histories.ts';
import type { Processes, ServiceProcess } from './processes.ts';
import type { Refunds } from './refunds.ts';
import type { Span, World } from './world.ts';

/** A partner that reads the event feed of one mode, and stores how far it got. */
interface Reader {
  account: Account;
  mode: Mode;
  withRefunds: boolean;
  cursor: bigint;
  /** Which gave the cursor. */
  history: History | undefined;
  read: Set<string>;
}

const pageSize = 2;

interface Parts {
  accounts: Account[];
  histories: Histories;
  processes: Processes;
  /** In runs where the bank side refunds. */
  refunds: Refunds | undefined;
}

/** Partners that read the event feed from their stored cursors, through a process of any history. */
export function createFeeds(
  { random, scheduler, violate }: World,
  { accounts, histories, processes, refunds }: Parts,
) {
  const kinds: Pick<Reader, 'mode' | 'withRefunds'>[] = [
    { mode: 'live', withRefunds: false },
    { mode: 'test', withRefunds: false },
    ...(refunds ? [{ mode: 'live', withRefunds: true } as const] : []),
  ];
  const readers = accounts.flatMap(account =>
    kinds.map((kind): Reader => ({ account, ...kind, cursor: 0n, history: undefined, read: new Set() })),
  );
  const nameOf = ({ account, mode }: Reader) => `${account.partnerId} ${mode}`;

  /** One page; returns whether there is more. */
  async function readPage(reader: Reader, history: History): Promise<boolean> {
    const { account, mode, cursor, withRefunds } = reader;
    const { partnerId } = account;
    const page = await listEvents(
      history.pool,
      { partnerId, mode },
      { after: cursor, limit: pageSize, withRefunds },
    );
    if (!page) {
      violate('a stored cursor is accepted', `${nameOf(reader)} after ${cursor}`);
      return false;
    }
    for (const { eventId } of page.events) {
      if (eventId <= reader.cursor)
        violate('the feed never goes back', `${nameOf(reader)}: ${eventId} after ${reader.cursor}`);
      reader.cursor = eventId;
      reader.history = history;
      reader.read.add(`${eventId}`);
    }
    return page.hasMore;
  }

  const canAnswer = ({ name, history }: ServiceProcess) =>
    (history.sessionsEndMs.get(name) ?? Number.POSITIVE_INFINITY) > scheduler.nowMs();

  /** A server of a lost history does not know the numbers of the next one, for as long as it is asked: 5 s at most. */
  const isFromLater = ({ history }: Reader, asked: History) =>
    asked.lostMs !== undefined && history !== undefined && history !== asked;

  async function readSome(): Promise<void> {
    const reachable = processes.running().filter(canAnswer);
    if (reachable.length === 0) return;
    const [reader, { history }] = [random.pick(readers), random.pick(reachable)];
    if (!isFromLater(reader, history)) await readPage(reader, history);
  }

  function checkComplete(reader: Reader): void {
    const { account, mode, read, withRefunds } = reader;
    for (const { partnerId, mode: paidIn, eventId, paymentId } of histories.current().model.books.payments)
      if (partnerId === account.partnerId && paidIn === mode && eventId !== null && !read.has(eventId))
        violate('a reader of the feed misses no event', `${nameOf(reader)}: that of ${paymentId}`);
    for (const { partnerId, eventId } of withRefunds ? refunds!.events() : [])
      if (partnerId === account.partnerId && !read.has(eventId))
        violate('a reader of the feed misses no event', `${nameOf(reader)}: a refund`);
  }

  return {
    plan: ({ faultsEndAfterMs }: Span) => {
      for (let at = 0; at < faultsEndAfterMs; at += random.between(500, 15_000))
        scheduler.after(at, { run: readSome });
    },
    /** Reads the rest, and checks that nothing was missed. */
    checkEnd: async () => {
      for (const reader of readers) {
        while (await readPage(reader, histories.current()));
        checkComplete(reader);
      }
    },
  };
}
