import type { Pool } from '../../src/db/postgres/pool.ts';
import type { Mode } from '../../src/ledger/index.ts';
import {
  createAuthenticator,
  createKey,
  type KeyRights,
  revokeKey,
  rollKey,
} from '../../src/partners/index.ts';
import { keyring } from '../helpers/partners.ts';
import { createRandom, type Random } from '../helpers/random.ts';
import type { Account, Wanted } from './accounts.ts';
import type { Answer } from './answering.ts';
import { type BookedPayment, type Books, highestTurnover } from './books.ts';
import type { Joined } from './joining.ts';
import { noPast } from './past.ts';
import { createAgenda, type Span, type World } from './world.ts';

interface Key {
  key: string;
  keyId: string;
  endsMs: number;
}

/** A key and those that it was rolled to, the newest last. They share their limits. */
interface Family {
  name: string;
  account: Account;
  mode: Mode;
  rights: KeyRights;
  keys: Key[];
}

/** A process may know a key as it was until the notification arrives. */
const noticedWithinMs = 2_000;

/** What it draws comes from a source of its own, so that runs without keys stay as they are. */
export async function createKeys(world: World, { seed, accounts }: { seed: number; accounts: Account[] }) {
  const { scheduler, pool, trace, violate } = world;
  const random = createRandom(seed + 800_000);
  const audit = { pool, clock: scheduler.clockOf('partner'), actor: 'partner' };
  const notices = createKeyNotices(world, random, noticedWithinMs);
  const families: Family[] = [];
  /** The families with which each payment was asked for, by partner, mode and idempotency key. */
  const askedWith = new Map<string, Set<Family>>();
  const nameOf = (partnerId: string, mode: Mode, key: string) => `${partnerId} ${mode} ${key}`;
  const newestOf = ({ keys }: Family) => keys.at(-1)!;
  const agenda = createAgenda(world);
  let books: Books = noPast().books;
  /** Refused in this step: what used the limit up may have been opened by the same statement. */
  const overLimit: { family: Family; wanted: Wanted }[] = [];

  /** The first key of a partner and mode never expires by itself, so the partner always has one. */
  async function add(account: Account, mode: Mode, isFirst: boolean): Promise<void> {
    const limit = (...choices: (number | null)[]) => {
      const kopecks = random.pick(choices);
      return kopecks === null ? null : BigInt(kopecks);
    };
    const rights: KeyRights = {
      scopes: ['read', 'pay'],
      maxKopecks: limit(null, null, 12_000),
      dailyKopecks: limit(null, 12_000, 18_000, 25_000),
    };
    const lifetimeMs = isFirst ? undefined : random.pick([undefined, random.between(5_000, 120_000)]);
    const endsMs = lifetimeMs === undefined ? Number.POSITIVE_INFINITY : scheduler.nowMs() + lifetimeMs;
    const expiresAt = lifetimeMs === undefined ? null : new Date(endsMs);
    const { partnerId } = account;
    const wanted = { partnerId, mode, allowedAddresses: [], rights, expiresAt };
    const created = await createKey(audit, keyring, wanted);
    if (created.outcome !== 'created') throw new Error(created.outcome);
    const { key, apiKey } = created;
    const name = `key ${families.length + 1}`;
    families.push({ name, account, mode, rights, keys: [{ key, keyId: apiKey.keyId, endsMs }] });
  }

  async function roll(family: Family): Promise<void> {
    const old = newestOf(family);
    const overlapMs = random.pick([0, 5_000, 60_000]);
    const isOver = old.endsMs <= scheduler.nowMs();
    const rolled = await rollKey(audit, keyring, old.keyId, overlapMs);
    trace.add('partner', `rolls ${family.name}: ${rolled.outcome}`);
    if ((rolled.outcome === 'rolled') === isOver)
      violate('a key is rolled as long as it is valid', `${family.name}: ${rolled.outcome}`);
    if (rolled.outcome !== 'rolled') return;
    const { key, apiKey } = rolled;
    old.endsMs = Math.min(old.endsMs, scheduler.nowMs() + overlapMs);
    const endsMs = apiKey.expiresAt?.getTime() ?? Number.POSITIVE_INFINITY;
    family.keys.push({ key, keyId: apiKey.keyId, endsMs });
  }

  /** Of a family with several, one that is not the newest. */
  async function revoke({ name, keys }: Family): Promise<void> {
    if (keys.length < 2) return;
    const key = random.pick(keys.slice(0, -1));
    await revokeKey(audit, key.keyId);
    trace.add('partner', `revokes one of ${name}`);
    key.endsMs = Math.min(key.endsMs, scheduler.nowMs());
  }

  async function change(): Promise<void> {
    const family = random.pick(families);
    await (random.chance(0.8) ? roll(family) : revoke(family));
    notices.announce();
  }

  const isValid = ({ endsMs }: Key) => endsMs > scheduler.nowMs();

  /** Mostly a key of the family that the payment was asked for with before, and sometimes one that has ended. */
  function choose({ account, mode, key }: Wanted): { family: Family; chosen: Key } {
    const own = families.filter(family => family.account === account && family.mode === mode);
    const usable = own.filter(family => family.keys.some(isValid));
    const name = nameOf(account.partnerId, mode, key);
    const before = [...(askedWith.get(name) ?? [])].filter(family => usable.includes(family));
    const family = before[0] ?? random.pick(usable);
    askedWith.set(name, (askedWith.get(name) ?? new Set()).add(family));
    const choice = random.chance(0.15) ? family.keys : family.keys.filter(isValid);
    return { family, chosen: random.pick(choice) };
  }

  const paymentsOf = (family: Family): BookedPayment[] =>
    books.payments.filter(({ partnerId, mode, key }) => {
      const used = askedWith.get(nameOf(partnerId, mode, key));
      return used?.size === 1 && used.has(family);
    });

  /** All that its keys can have opened on any day, whatever became of it, leaves room for this one. */
  function isBelowLimit(family: Family, { qr }: Wanted): boolean {
    const asked = books.payments.filter(({ partnerId, mode, key }) =>
      askedWith.get(nameOf(partnerId, mode, key))?.has(family),
    );
    const kopecks = asked.reduce((sum, payment) => sum + payment.kopecks, Number(qr.amountKopecks));
    return kopecks <= Number(family.rights.dailyKopecks);
  }

  return {
    /** The key of one request, and what to call with its answer. */
    use: (wanted: Wanted) => {
      const { family, chosen } = choose(wanted);
      const sentMs = scheduler.nowMs();
      return {
        key: chosen.key,
        answered: (answer: Answer, { hasStalled }: { hasStalled: boolean }) => {
          if (answer.outcome === 'broken' || answer.outcome === 'error') return;
          const isRefused = answer.outcome === 'refused' && answer.code === 'unauthorized';
          if (isRefused && scheduler.nowMs() < chosen.endsMs - world.clockErrorMs)
            violate('a valid key is not refused', family.name);
          const knownUntilMs = chosen.endsMs + noticedWithinMs + 2 * world.clockErrorMs;
          if (!isRefused && sentMs > knownUntilMs && !hasStalled)
            violate('a key past its end opens nothing', `${family.name}: ${answer.outcome}`);
          const isOverLimit = answer.outcome === 'refused' && answer.code === 'key_daily_limit_exceeded';
          if (isOverLimit) overLimit.push({ family, wanted });
        },
      };
    },
    authenticatorOf: ({ name, history, clock }: Joined) =>
      createAuthenticator(
        history.database.connectionOf(name) as Pool,
        clock,
        keyring,
        (_pool, _channel, onMessage) => notices.subscribe(name, onMessage),
      ),
    /** After every step. */
    check: (now: Books) => {
      books = now;
      for (const { family, wanted } of overLimit.splice(0))
        if (isBelowLimit(family, wanted)) violate('a key is not refused below its limit', family.name);
      for (const family of families) {
        const { maxKopecks, dailyKopecks } = family.rights;
        if (maxKopecks === null && dailyKopecks === null) continue;
        const payments = paymentsOf(family);
        const turnover = highestTurnover(payments);
        if (dailyKopecks !== null && turnover > Number(dailyKopecks))
          violate('no more a day than the key allows', `${family.name}: ${turnover} of ${dailyKopecks}`);
        const tooMuch = payments.find(({ kopecks }) => maxKopecks !== null && kopecks > Number(maxKopecks));
        if (tooMuch)
          violate('no payment is larger than its key allows', `${family.name}: ${tooMuch.paymentId}`);
      }
    },
    plan: async ({ faultsEndAfterMs }: Span) => {
      await pool.query('UPDATE partners SET live_approved = true WHERE NOT live_approved');
      for (const account of accounts)
        for (const mode of ['live', 'test'] as const)
          for (const isFirst of random.chance(0.5) ? [true] : [true, false])
            await add(account, mode, isFirst);
      for (let left = random.between(2, 12); left > 0; left--)
        agenda.after(random.between(0, faultsEndAfterMs), change);
    },
    isDone: agenda.isEmpty,
  };
}

/** The API keys of partners: with limits, rolled, revoked and expiring while they are used. */
export type Keys = Awaited<ReturnType<typeof createKeys>>;

interface Subscriber {
  processName: string;
  isListening: boolean;
  onMessage(): void;
}

/** The notifications of changed keys, as LISTEN gives them: in time, or after the connection is there again. */
export function createKeyNotices(world: World, random: Random, withinMs: number) {
  const { scheduler } = world;
  const subscribers: Subscriber[] = [];

  function connectAfter(ms: number, subscriber: Subscriber): void {
    const run = () => {
      subscriber.isListening = true;
      subscriber.onMessage();
    };
    scheduler.after(ms, { processName: subscriber.processName, run });
  }

  return {
    subscribe: (processName: string, onMessage: () => void) => {
      const subscriber = { processName, isListening: false, onMessage };
      subscribers.push(subscriber);
      connectAfter(random.between(0, 1_000), subscriber);
      return { isListening: () => subscriber.isListening, close: () => Promise.resolve() };
    },
    /** A key has changed. */
    announce: () => {
      for (const subscriber of subscribers) {
        if (!subscriber.isListening) continue;
        if (random.chance(0.2)) {
          subscriber.isListening = false;
          connectAfter(random.between(0, 10_000), subscriber);
        } else
          scheduler.after(random.between(0, withinMs), {
            processName: subscriber.processName,
            run: subscriber.onMessage,
          });
      }
    },
  };
}
