import { startConsole } from '../helpers/console.ts';
import { auditContextOf, createTimedDatabase } from '../helpers/database.ts';
import { type EnrolledOperator, enrolOperator } from '../helpers/operators.ts';

/** The console behind a proxy, with a manual clock. */
export async function startSignIn() {
  const { pool, sql, clock } = await createTimedDatabase();
  const { signIn, visit } = await startConsole({ pool, clock, trustProxy: ['127.0.0.1'] });
  let people = 0;
  const newName = () => `person-${++people}`;
  /** A new address each time, unless the test sets one. */
  const from = (address = `198.51.100.${++people}`) => ({ 'x-forwarded-for': address });
  return {
    ...{ pool, sql, clock },
    audit: auditContextOf(pool, clock),
    signIn,
    visit,
    newName,
    enrolled: (role: 'viewer' | 'admin' = 'viewer') => enrolOperator(pool, clock, newName(), role),
    from,
    /** From a new browser. */
    login: (
      { name, password }: Pick<EnrolledOperator, 'name' | 'password'>,
      code: string,
      address?: string,
    ) => visit().post('/login', { name, password, code }, from(address)),
    /** Advances the clock to the next one-time code. */
    wait: (steps = 1) => clock.advance(steps * 30_000),
    auditOf: (subject: string): Promise<object[]> =>
      sql`SELECT actor, action, after FROM audit WHERE subject = ${subject} ORDER BY id`,
  };
}
