import { type Id, uuidFromId } from '../../src/base/ids.ts';
import { completeAddresses } from '../../src/deposits/addresses.ts';
import type { DepositChain } from '../../src/deposits/chain/deposit-chain.ts';
import { startDepositWatchers } from '../../src/deposits/index.ts';
import { createRandom } from '../helpers/random.ts';
import { contract, createSimulatedChain, logsOf } from './chain.ts';
import { createChainConnection } from './chain-connection.ts';
import { countFault, drawBehaviour, stopNodeFaults } from './chain-faults.ts';
import { createNode } from './chain-nodes.ts';
import { createDepositBooks, createWatchedRound } from './deposit-books.ts';
import {
  type Console,
  createAccountLocks,
  createDepositOperators,
  createScreening,
  createSenders,
  isLockTimeout,
} from './deposit-senders.ts';
import type { Joined, WatchDeps } from './joining.ts';
import type { BesideParts } from './refunds.ts';
import { createAgenda, type Span, type World } from './world.ts';

/** Rounds, and how often the service looks whether a chain is late, and whether a day is over. */
const watchEveryMs = [5_000, 60_000, 600_000];
/** Operators look so often whether the chain is another one, when nothing else is wrong. */
const operatorsLookEveryMs = 30_000;
/** Rounds go on at their pace for so long, and then seldom. */
const busyForMs = 600_000;
const seldomMs = 300_000;
/** What more than so many accounts in a block get too much of is no fault of one sender: the node is broken. */
const maxUnreadPerBlock = 2;

/**
 * As the real one, it depends on the partner only. In the order of the partners: logs are sorted by it, and a seed must run the
 * same again.
 */
function accountOf(partnerId: Id<'prt'>): string {
  const uuid = uuidFromId(partnerId);
  return `0x${uuid.slice(-12)}${'0'.repeat(20)}${uuid.slice(0, 8)}`;
}

export async function createDeposits(world: World, { seed, run, accounts, histories }: BesideParts) {
  const { scheduler, trace, pool } = world;
  const random = createRandom(seed + 500_000);
  const chain = createSimulatedChain(random, { name: `${run}`, nowMs: scheduler.nowMs });
  const startedMs = scheduler.nowMs();
  const firstBlock = chain.finalNumber();
  const nodeCount = random.chance(0.6) ? 2 : 1;
  const behaviour = drawBehaviour(random, nodeCount === 2);
  const decimals = random.pick([6, 18]);
  let minMicroUsdt = random.pick([1n, 500_000n, 1_500_000n, 5_000_000n]);
  let lowered = 0;
  const own = accounts.map(({ partnerId }) => accountOf(partnerId));
  const uuids = accounts.map(({ uuid }) => uuid);
  const settings: Omit<DepositChain, 'nodes' | 'minMicroUsdt'> = {
    name: 'ethereum',
    title: 'Ethereum',
    network: 'Ethereum (ERC-20)',
    form: 'hex',
    chainId: 1,
    decimals,
    usualMinutes: 16,
    readAgain: 12,
    confirmations: undefined,
    transactionPage: '',
    addressPage: '',
    contractAccount: contract,
    deriveAddress: partnerId => ({
      address: accountOf(partnerId),
      account: accountOf(partnerId),
      path: 'm/0/0',
    }),
    formatAccount: account => account,
  };
  const refusedAlone = new Set<string>();
  const nodeParts = { chain, random, behaviour, decimals, accounts: own, refusedAlone };
  const chainOf = (processName: string): DepositChain => ({
    ...settings,
    get minMicroUsdt() {
      return minMicroUsdt;
    },
    nodes: Array.from({ length: nodeCount }, (_, nth) => createNode(world, processName, nth, nodeParts)),
  });
  const screening = random.chance(0.6) ? createScreening(world, random) : undefined;
  const locks = createAccountLocks(world, random, uuids);
  const senders = createSenders(world, { random, accounts: own, decimals, minMicroUsdt: () => minMicroUsdt });
  const consoles: Console[] = [];
  const operators = createDepositOperators(world, {
    ...{ random, chain, uuids, firstBlock },
    consoles: () => consoles.filter(({ history }) => history === histories.current()),
  });
  /** When no fault is left: how many logs the nodes give then. */
  let maxLogs: number[] = [];
  const countOf = (blockNumber: number, account: string) =>
    logsOf(chain.blocks[blockNumber]!).filter(log => log.contract === contract && log.account === account)
      .length;
  const books = createDepositBooks(world, {
    ...{ chain, decimals, accounts, accountOf, refusedAlone },
    minMicroUsdt: () => minMicroUsdt,
    version: () => chain.version() + lowered,
    isUnreadable: (blockNumber, account, by) =>
      countOf(blockNumber, account) > Math.min(...(by === 'any' ? maxLogs : maxLogs.slice(0, 1))),
    rules: {
      isScreened: screening !== undefined,
      isAllowed: deposit => screening?.isAllowed(deposit) ?? true,
      isDecided: operators.isDecided,
    },
  });

  // Partners of earlier runs have addresses too. The watchers find the rest of this run only.
  while (!(await completeAddresses(pool, scheduler.clockOf('set-up'), chainOf('set-up'))));
  await books.begin();
  const agenda = createAgenda(world);
  let isClosing = false;

  function grow(): void {
    const canReplace = chain.head().number > chain.finalNumber();
    if (!isClosing && canReplace && random.chance(0.25)) {
      countFault(world, 'replaced');
      chain.reorganise();
    } else chain.mine(isClosing ? [] : senders.draw());
    trace.add('chain', `block ${chain.head().number}, final ${chain.finalNumber()}`);
  }

  function replaceFinal(): void {
    if (isClosing || chain.finalNumber() === firstBlock) return;
    if (operators.isRewinding()) {
      agenda.after(10_000, replaceFinal);
      return;
    }
    countFault(world, 'replaced below final');
    chain.reorganiseFinal(firstBlock);
    trace.add('chain', `another one: block ${chain.head().number}, final ${chain.finalNumber()}`);
  }

  function lowerSmallest(): void {
    const lower = random.pick([1n, 100_000n, 500_000n]);
    if (lower >= minMicroUsdt) return;
    countFault(world, 'smallest amount lowered');
    minMicroUsdt = lower;
    lowered += 1;
    trace.add('operator', `the smallest amount is ${lower} now`);
  }

  /** A round that fails raises an alarm. Only a lost connection or a locked account is a reason to. */
  function checkAlarm({ kind, detail }: { kind: string; detail: string }, roundStartedMs: number): void {
    const isExpected = /terminated unexpectedly|is another one|lock timeout|could not be stored/.test(detail);
    if (kind === 'deposit_watch_failing' && !isExpected)
      world.violate('no error but a lost connection', detail);
    const isHonest = isClosing && roundStartedMs > world.faultsStoppedMs!;
    if (
      kind === 'deposit_nodes_disagree' &&
      isHonest &&
      !/another block|different blocks|meanwhile/.test(detail)
    )
      world.violate('honest nodes are not said to disagree', detail);
  }

  /** The cause of a credit that failed is what counts. */
  const logTo = (log: WatchDeps['log']): WatchDeps['log'] => ({
    ...log,
    error: (details, message) => {
      const { err } = details as { err?: Error };
      if (!isLockTimeout(err)) log.error({ ...details, err: err?.cause ?? err }, message);
    },
  });

  /** A node that is broken is replaced; others keep their limits, and what they cannot give stays unread. */
  function drawLastLimits(): number[] {
    const limits = Array.from({ length: nodeCount }, (_, nth) => behaviour.maxLogsOf(nth));
    const isBroken = chain.blocks.some(({ number }) =>
      limits.some(
        limit => own.filter(account => countOf(number, account) > limit).length > maxUnreadPerBlock,
      ),
    );
    return isBroken || random.chance(0.5) ? limits.map(() => Number.POSITIVE_INFINITY) : limits;
  }

  const isMissing = () => books.knownOf(histories.current())?.isMissing ?? true;

  /** After the faults: what was unread is read again if a node gives it now. */
  function finishReading(): void {
    const isSettled = books.isSettled(histories.current());
    if (isSettled && !isMissing()) return;
    if (isSettled) operators.rewindWholly();
    else operators.rewindIfReplaced();
    agenda.after(operatorsLookEveryMs, finishReading);
  }

  /** In a run of hours a chain that is stuck is looked at seldom. */
  function nextRoundMs(): number {
    const nowMs = scheduler.nowMs();
    return isClosing || nowMs - startedMs < busyForMs ? nowMs : Math.ceil(nowMs / seldomMs) * seldomMs;
  }

  return {
    plan: ({ busyMs, faultsEndAfterMs }: Span) => {
      const sometime = () => random.between(0, random.pick([busyMs, faultsEndAfterMs]));
      const planSome = (count: number, act: () => void) => {
        for (let left = count; left > 0; left--) agenda.after(sometime(), act);
      };
      planSome(random.between(8, 24), grow);
      planSome(random.pick([0, 1, 2, 3]), replaceFinal);
      planSome(random.pick([0, 4]), operators.rewindIfReplaced);
      planSome(random.pick([0, 1, 3]), operators.rewind);
      planSome(random.pick([0, 1]), lowerSmallest);
      planSome(random.pick([0, 12, 24]), locks.lockOne);
      planSome(random.between(5, 20), operators.decide);
    },
    stopFaults: () => {
      maxLogs = drawLastLimits();
      stopNodeFaults(behaviour, maxLogs);
      screening?.stopFaults();
      locks.stop();
      isClosing = true;
      // What was sent becomes final, and some of what is held is decided on.
      for (let left = 6; left > 0; left--) agenda.after(random.between(0, 20_000), grow);
      for (let left = 4; left > 0; left--) agenda.after(random.between(0, 60_000), operators.decide);
      agenda.after(operatorsLookEveryMs, finishReading);
    },
    isDone: () => agenda.isEmpty() && books.isSettled(histories.current()) && !isMissing(),
    watch: ({ name, instance, history }: Joined, { alarms, log, clockOf }: WatchDeps) => {
      const round = createWatchedRound(world, { history, books, uuids });
      const connection = createChainConnection(world, {
        ...{ random, processName: name, history },
        before: () => books.open(history),
        afterCommit: () => books.check(history),
        refuse: statement => {
          const refusal = locks.refuse(statement);
          if (refusal) round.wasRefused(statement.values![0] as string[]);
          return refusal;
        },
        onLost: round.forget,
      });
      const clock = clockOf({
        everyMs: watchEveryMs,
        nextDueMs: async () => (books.isSettled(history) ? Number.POSITIVE_INFINITY : nextRoundMs()),
      });
      const watched = chainOf(name);
      consoles.push({ pool: connection, clock, chain: watched, history });
      startDepositWatchers(
        {
          ...{ pool: round.listen(connection), clock, log: logTo(log), heartbeat: { instance } },
          chains: new Map([[settings.name, watched]]),
          depositScreenUrl: screening && 'https://screen.example',
          alarms: {
            ...alarms,
            report: (subject, found) => {
              for (const alarm of found) checkAlarm(alarm, round.startedMs());
              // With screening two loops credit, and one may be at work when the other ends.
              if (subject === `deposits ${settings.name}` && !screening) round.end();
              return alarms.report(subject, found);
            },
          },
        },
        () => screening!.screenOf(name),
      );
    },
    checkEnd: async () => {
      await books.check(histories.current());
      await books.checkEnd(histories.current());
    },
  };
}
