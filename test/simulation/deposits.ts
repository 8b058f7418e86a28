import { createHash } from 'node:crypto';
import type { Alarms } from '../../src/alarms/index.ts';
import { completeAddresses } from '../../src/deposits/addresses.ts';
import type { DepositChain } from '../../src/deposits/chain/deposit-chain.ts';
import { startDepositWatchers } from '../../src/deposits/index.ts';
import { createRandom } from '../helpers/random.ts';
import type { Account } from './accounts.ts';
import type { Actor } from './actor.ts';
import { createSimulatedChain, type Transfer } from './chain.ts';
import { createChainConnection } from './chain-connection.ts';
import { contract, createNode } from './chain-nodes.ts';
import { createDepositBooks } from './deposit-books.ts';
import type { Histories } from './histories.ts';
import { type Console, createScreening } from './screening.ts';
import type { Watcher } from './watcher.ts';
import type { World } from './world.ts';

/** The chain on which partners deposit, the watchers of the processes, and the operators who decide on held deposits. */
export interface Deposits extends Actor, Watcher {
  checkEnd(): Promise<void>;
}

const watchEveryMs = 5_000;

/** As the real one, it depends on the partner only. */
const accountOf = (partnerId: string) =>
  `0x${createHash('sha256').update(partnerId).digest('hex').slice(0, 40)}`;

/** What it draws comes from a source of its own, so that runs without a chain stay as they are. */
export async function createDeposits(
  world: World,
  {
    seed,
    run,
    accounts,
    histories,
  }: { seed: number; run: number; accounts: Account[]; histories: Histories },
): Promise<Deposits> {
  const { scheduler, trace, pool } = world;
  const random = createRandom(seed + 500_000);
  const chain = createSimulatedChain(random, { name: `${run}`, nowMs: scheduler.nowMs });
  const hasTwoNodes = random.chance(0.6);
  const behaviour = {
    // One node that lies would be believed: with one, it does not. Of two, what the first one says is booked.
    liar: hasTwoNodes && random.chance(0.7) ? random.pick([0, 0, 1]) : undefined,
    failing: random.pick([0, 0.01, 0.05]),
    behind: random.pick([0, 0.1, 0.3]),
    lying: random.pick([0.02, 0.1, 0.3]),
    liesAboutBlocks: random.chance(0.5),
  };
  const minMicroUsdt = random.pick([1n, 1_500_000n]);
  const own = accounts.map(({ partnerId }) => accountOf(partnerId));
  const settings: Omit<DepositChain, 'nodes'> = {
    name: 'ethereum',
    title: 'Ethereum',
    form: 'hex',
    chainId: 1,
    decimals: 6,
    usualMinutes: 16,
    readAgain: 12,
    confirmations: undefined,
    minMicroUsdt,
    explorer: '',
    contractAccount: contract,
    deriveAddress: partnerId => ({
      address: accountOf(partnerId),
      account: accountOf(partnerId),
      path: 'm/0/0',
    }),
    formatAccount: account => account,
  };
  const chainOf = (processName: string): DepositChain => ({
    ...settings,
    nodes: Array.from({ length: hasTwoNodes ? 2 : 1 }, (_, nth) =>
      createNode(world, processName, nth, { chain, random, behaviour, accounts: own }),
    ),
  });
  const uuids = accounts.map(({ uuid }) => uuid);
  const screening = random.chance(0.6) ? createScreening(world, random, uuids) : undefined;
  const books = createDepositBooks(world, { chain, accounts, accountOf, minMicroUsdt, screening });
  const consoles: Console[] = [];

  // Partners of earlier runs have addresses too. The watchers find the rest of this run only.
  while (!(await completeAddresses(pool, scheduler.clockOf('set-up'), chainOf('set-up'))));
  await books.begin();
  let planned = 0;
  let isClosing = false;

  function drawTransfer(): Transfer {
    const isOurs = random.chance(0.85);
    const units = random.chance(0.05) ? 0n : BigInt(random.between(1, 30)) * 100_000n;
    return {
      contract: random.chance(0.9) ? contract : `0x${'f'.repeat(40)}`,
      account: isOurs ? random.pick(own) : `0x${'b'.repeat(40)}`,
      units,
    };
  }

  function grow(): void {
    planned -= 1;
    const canReplace = chain.head().number > chain.finalNumber();
    if (!isClosing && canReplace && random.chance(0.25)) chain.reorganise();
    else {
      const transactions = isClosing ? 0 : random.pick([0, 1, 1, 2]);
      chain.mine(
        Array.from({ length: transactions }, () =>
          Array.from({ length: random.between(1, 3) }, drawTransfer),
        ),
      );
    }
    trace.add('chain', `block ${chain.head().number}, final ${chain.finalNumber()}`);
  }

  /** A round that fails raises an alarm. Only a lost connection is a reason to. */
  function reportExpected(alarms: Alarms, ...[subject, found]: Parameters<Alarms['report']>): Promise<void> {
    for (const { kind, detail } of found)
      if (kind === 'deposit_watch_failing' && !/terminated unexpectedly|is another one/.test(detail))
        world.violate('no error but a lost connection', detail);
    return alarms.report(subject, found);
  }

  /** Sometimes two decide at the same time, each in a process that may be stalled or dead. */
  function decideAfter(ms: number): void {
    planned += 1;
    const run = () => {
      planned -= 1;
      if (consoles.length === 0) return;
      for (let left = random.pick([1, 2]); left > 0; left--)
        void screening?.decideOnOne(random.pick(consoles.slice(-3)));
    };
    scheduler.after(ms, { run });
  }

  function growAfter(ms: number): void {
    planned += 1;
    scheduler.after(ms, { run: grow });
  }

  return {
    plan: ({ busyMs, faultsEndAfterMs }) => {
      for (let left = random.between(8, 24); left > 0; left--)
        growAfter(random.between(0, random.pick([busyMs, faultsEndAfterMs])));
      if (screening)
        for (let left = random.between(10, 20); left > 0; left--)
          decideAfter(random.between(0, faultsEndAfterMs));
    },
    stopFaults: () => {
      Object.assign(behaviour, { liar: undefined, failing: 0, behind: 0, lying: 0 });
      screening?.stopFaults();
      isClosing = true;
      // What was sent becomes final, and some of what is held is decided on.
      for (let left = 6; left > 0; left--) growAfter(random.between(0, 20_000));
      if (screening) for (let left = 4; left > 0; left--) decideAfter(random.between(0, 60_000));
    },
    isDone: () => planned === 0 && books.isSettled(histories.current()),
    watch: ({ name, instance, history }, { alarms, log, clockOf }) => {
      const connection = createChainConnection(world, {
        ...{ random, processName: name, history },
        before: () => books.open(history),
        afterCommit: () => books.check(history),
      });
      const clock = clockOf({
        everyMs: [watchEveryMs],
        nextDueMs: async () => (books.isSettled(history) ? Number.POSITIVE_INFINITY : scheduler.nowMs()),
      });
      consoles.push({ pool: connection, clock });
      startDepositWatchers(
        {
          ...{ pool: connection, clock, log, heartbeat: { instance } },
          chains: new Map([[settings.name, chainOf(name)]]),
          depositScreenUrl: screening && 'https://screen.example',
          alarms: { ...alarms, report: (subject, found) => reportExpected(alarms, subject, found) },
        },
        () => screening!.screenOf(name),
      );
    },
    checkEnd: () => books.check(histories.current()),
  };
}
