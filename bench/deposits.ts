/**
 * The watcher of deposits: how fast it reads and books the blocks that it has missed, with many addresses. Compared with how fast
 * Ethereum makes them. Then a block that somebody has filled with dust.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createAlarms } from '../src/alarms/index.ts';
import { systemClock as clock } from '../src/base/clock.ts';
import { newId, uuidFromId } from '../src/base/ids.ts';
import { readSettings } from '../src/base/settings.ts';
import { openEmbedded } from '../src/db/embedded/index.ts';
import { openPool, type Pool } from '../src/db/postgres/index.ts';
import { migrate } from '../src/db/schema/index.ts';
import { completeAddresses, readAccounts } from '../src/deposits/addresses.ts';
import { openDepositChains } from '../src/deposits/index.ts';
import { maxRangeBlocks } from '../src/deposits/watch/halving.ts';
import { runRound } from '../src/deposits/watch/round.ts';
import { openAccounts, verifyLedger } from '../src/ledger/index.ts';
import { start } from './process.ts';
import { closeOnce, newFolder } from './service/cleanup.ts';
import { machine, table } from './table.ts';

const addressCount = 10_000;
const blocks = 2_000;
/** Ethereum makes a block every 12 s. So many transfers of USDT in each would be 720 000 a day, more than it usually has. */
const secondsPerBlock = 12;
const transfersPerBlock = 100;
/** One of so many is a deposit. */
const depositEvery = 100;
const atLeast = 20;
const dustTransfers = 100_000;

const contract = '0xdAC17F958D2ee523a2206206994597C13D831ec7';
/** Of the first test vector of BIP-32. */
const xpub =
  'xpub68Gmy5EdvgibQVfPdqkBBCHxA5htiqg55crXYuXoQRKfDBFA1WEjWgP6LHhwBZeNK1VTsfTFUHCdrfp1bgwQ9xv5ski8PX9rL2dZXvgGDnw';

export async function benchDeposits(progress: (line: string) => void) {
  const { dir, remove } = newFolder('deposits');
  const server = await openEmbedded(join(dir, 'data'), progress, 'create');
  const pool = openPool(server.connection);
  const close = closeOnce(async () => {
    await pool.end();
    await server.close();
  });
  try {
    await migrate(pool);
    return await measure(pool, join(dir, 'accounts.json'), progress);
  } finally {
    await close();
    await remove();
  }
}

async function measure(pool: Pool, accountsFile: string, progress: (line: string) => void) {
  const open = async (url: string) =>
    (
      await openDepositChains(
        readSettings({
          DEPOSIT_CHAINS: 'ethereum',
          DEPOSIT_ETHEREUM_RPC: url,
          DEPOSIT_ETHEREUM_XPUB: xpub,
          DEPOSIT_ETHEREUM_CONTRACT: contract,
        }).depositChains,
        clock,
      )
    ).get('ethereum')!;
  progress(`${addressCount} partners with addresses …`);
  await createPartners(pool);
  const nowhere = await open('http://127.0.0.1:1');
  while (!(await completeAddresses(pool, clock, nowhere)));
  const accounts = [...(await readAccounts(pool, 'ethereum')).keys()];
  writeFileSync(accountsFile, JSON.stringify(accounts));
  const node = await start(
    join(import.meta.dirname, 'chain.process.ts'),
    [contract.toLowerCase(), `${transfersPerBlock}`, `${depositEvery}`, accountsFile],
    {},
  );
  const tell = (method: string, count: number) =>
    fetch(node.address, { method: 'POST', body: JSON.stringify({ id: 1, method, params: [count] }) });

  const chain = await open(node.address);
  const alarms = createAlarms({
    db: pool,
    clock,
    log: { warn: details => progress(JSON.stringify(details)) },
  });
  const size = { blocks: maxRangeBlocks };
  const catchUp = async () => {
    while ((await runRound({ pool, clock, alarms, chain, isScreened: false }, size)) === 'more');
  };
  await catchUp();
  await tell('bench_grow', blocks);
  progress(`${blocks} blocks with ${transfersPerBlock} transfers each …`);
  const seconds = await timed(catchUp);
  await tell('bench_dust', dustTransfers);
  progress(`a block with ${dustTransfers} transfers of dust …`);
  const pauses = monitorEventLoopDelay({ resolution: 5 });
  pauses.enable();
  const dustSeconds = await timed(catchUp);
  pauses.disable();
  await node.stop();
  const { rows } = await pool.query<{ cursor_block: bigint; credited: bigint }>(
    `SELECT cursor_block, (SELECT count(*) FROM deposits WHERE state = 'credited') AS credited FROM deposit_chains`,
  );
  const { cursor_block: cursor, credited } = rows[0]!;
  if (cursor !== BigInt(blocks) + 1n) throw new Error(`only ${cursor} of ${blocks + 1} blocks are booked`);
  const { rowCount: dust } = await pool.query(`SELECT FROM deposits WHERE state = 'accumulating'`);
  if (dust !== dustTransfers)
    throw new Error(`only ${dust} of ${dustTransfers} transfers of dust are booked`);
  const { findings } = await verifyLedger(pool);
  if (findings.length > 0) throw new Error(`the ledger is broken: ${JSON.stringify(findings)}`);
  return report({
    ...{ blocksPerSecond: blocks / seconds, dustPerSecond: dustTransfers / dustSeconds, credited },
    longestPauseMs: pauses.max / 1e6,
  });
}

async function timed(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return (performance.now() - startedAt) / 1_000;
}

async function createPartners(pool: Pool): Promise<void> {
  const partners = Array.from({ length: addressCount }, () => newId('prt', clock));
  await pool.query("INSERT INTO partners (id, name, created_at) SELECT unnest($1::uuid[]), 'bench', now()", [
    partners.map(uuidFromId),
  ]);
  for (const partnerId of partners) await openAccounts(pool, partnerId);
}

interface Measured {
  blocksPerSecond: number;
  dustPerSecond: number;
  /** In which nothing else ran. */
  longestPauseMs: number;
  credited: bigint;
}

function report({ blocksPerSecond, dustPerSecond, longestPauseMs, credited }: Measured) {
  const ratio = blocksPerSecond * secondsPerBlock;
  const format = (value: number) => Math.round(value).toLocaleString('en').replaceAll(',', ' ');
  const row = [
    `scanned with ${format(addressCount)} addresses`,
    `${format(blocksPerSecond)} blocks/s, ${format(blocksPerSecond * transfersPerBlock)} logs/s`,
    `${format(ratio)} × Ethereum: a block every ${secondsPerBlock} s with ${transfersPerBlock} transfers of USDT`,
    `≥ ${atLeast} ${ratio >= atLeast ? '✓' : '✗'}`,
  ];
  const dust = [
    `a block with ${format(dustTransfers)} transfers of dust`,
    `${format(dustPerSecond)} transfers/s, longest pause of the event loop ${format(longestPauseMs)} ms`,
    `${(dustPerSecond / (blocksPerSecond * transfersPerBlock)).toFixed(2)} × the scan above`,
    '',
  ];
  return {
    json: {
      machine: machine(),
      blocksPerSecond,
      ratio,
      dustPerSecond,
      longestPauseMs,
      credited: Number(credited),
    },
    text: [
      machine(),
      table(['what', 'measured', 'against', 'bar'], [row, dust]),
      `${credited} deposits were credited, and the ledger is in order.`,
    ].join('\n\n'),
  };
}
