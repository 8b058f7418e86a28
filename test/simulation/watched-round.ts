import type { Pool, Statement } from '../../src/db/pool.ts';
import { countFault } from './chain-nodes.ts';
import type { DepositBooks } from './deposit-books.ts';
import type { History } from './histories.ts';
import type { World } from './world.ts';

interface Parts {
  history: History;
  books: DepositBooks;
  uuids: string[];
}

/** A round of one process. What it finds to be due is credited by its end, unless the account is locked. */
export function createWatchedRound(world: World, { history, books, uuids }: Parts) {
  let due: { uuid: string; wasLocked: boolean }[] = [];
  let seenAtCheck = 0;
  let startedMs = 0;

  return {
    startedMs: () => startedMs,
    /**
     * The connection, which notes who is found to be due. It hides the addresses of earlier runs: with them a seed would run
     * otherwise.
     */
    listen: (pool: Pool): Pool => {
      const query = async (statement: Statement) => {
        if (statement.text.startsWith('WITH taken AS (UPDATE deposit_chains'))
          startedMs = world.scheduler.nowMs();
        const result = await pool.query<{ partner_id: string }>(statement);
        if (statement.text.includes('HAVING sum(micro_usdt)')) {
          seenAtCheck = books.knownOf(history).checks;
          due = result.rows.map(row => ({ uuid: row.partner_id, wasLocked: false }));
        }
        if (!statement.text.startsWith('SELECT account, partner_id FROM deposit_addresses')) return result;
        return { ...result, rows: result.rows.filter(row => uuids.includes(row.partner_id)) };
      };
      return { ...pool, query } as unknown as Pool;
    },
    /** Nothing can be said about a round whose connection was lost. */
    forget: () => {
      due = [];
    },
    wasRefused: (refused: string[]) => {
      for (const one of due) if (refused.includes(one.uuid)) one.wasLocked = true;
    },
    end: () => {
      const { notDue } = books.knownOf(history);
      const others = due.filter(({ wasLocked }) => !wasLocked);
      for (const { uuid } of others)
        if ((notDue.get(uuid) ?? 0) <= seenAtCheck)
          world.violate('a locked account delays no credit of another partner', uuid);
      if (others.length > 0 && others.length < due.length)
        countFault(world, 'credited beside a locked account');
      due = [];
    },
  };
}
