import { manualClock } from '../helpers/clock.ts';
import { startConsole } from '../helpers/console.ts';
import { auditContextOf, createDatabase } from '../helpers/database.ts';
import { enrolOperator } from '../helpers/operators.ts';

/** The console behind a proxy, with a manual clock. */
export async function startSignIn() {
  const { pool, sql } = await createDatabase();
  const clock = manualClock();
  const { signIn, visit } = await startConsole({ pool, clock, trustProxy: ['127.0.0.1'] });
  let people = 0;
  const newName = () => `person-${++people}`;
  return {
    ...{ pool, sql, clock },
    audit: auditContextOf(pool, clock),
    signIn,
    visit,
    newName,
    enrolled: (role: 'viewer' | 'admin' = 'viewer') => enrolOperator(pool, clock, newName(), role),
    /** A new address each time, unless the test sets one. */
    from: (address = `198.51.100.${++people}`) => ({ 'x-forwarded-for': address }),
    /** Advances the clock to the next one-time code. */
    wait: (steps = 1) => clock.advance(steps * 30_000),
    auditOf: async (subject: string): Promise<object[]> => {
      const rows = await sql`SELECT actor, action, after FROM audit WHERE subject = ${subject} ORDER BY id`;
      return rows;
    },
  };
}
