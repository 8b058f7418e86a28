import pg from 'pg';
import { expect, test } from 'vitest';
import { NotAnsweringError, OldHistoryError } from '../../src/db/postgres/database-errors.ts';
import { createLog } from '../../src/runtime/log.ts';

function start(logLevel: 'info' | 'debug' = 'info') {
  const lines: Record<string, unknown>[] = [];
  let nowMs = 0;
  const write = (line: string) => {
    const { time: _time, pid: _pid, hostname: _host, ...rest } = JSON.parse(line);
    lines.push(rest);
  };
  const service = createLog({ logLevel }, { monotonicMs: () => nowMs }, { write });
  return { ...service, lines, pass: (ms: number) => (nowMs += ms) };
}

const serverError = (code: string) => Object.assign(new pg.DatabaseError('refused', 0, 'error'), { code });
const lost = new Error('Connection terminated unexpectedly');
const [debug, warn, error] = [20, 40, 50];
const began = {
  reason: 'Connection terminated unexpectedly',
  msg: 'the database is not available: requests get 503 until it is',
};

test('an outage of the database is logged when it begins and when it ends, with its length', () => {
  const { log, databaseFailed, databaseWorks, lines, pass } = start();
  for (let nth = 0; nth < 70; nth++) {
    log.error({ err: lost, request_id: `req_${nth}` }, 'a request failed');
    databaseFailed('the database does not answer');
    pass(100);
  }
  databaseWorks();
  // What was sent during the outage may fail after its end.
  log.error({ err: lost }, 'events could not be read');
  for (let seconds = 0; seconds < 15; seconds++, pass(1_000)) databaseWorks();
  expect(lines).toEqual([
    { level: error, ...began },
    { level: warn, seconds: 7, msg: 'the database is available again' },
  ]);
});

test('an address that leads to an old history is logged once in an outage, whatever it began with', () => {
  const { log, databaseRefused, lines } = start();
  log.error({ err: lost }, 'a request failed');
  databaseRefused(new NotAnsweringError('the database is a read-only standby'));
  for (let nth = 0; nth < 3; nth++) databaseRefused(new OldHistoryError('it is an older history'));
  expect(lines.map(({ reason, msg }) => ({ reason, msg }))).toEqual([
    began,
    {
      reason: 'it is an older history',
      msg: 'the address of the database leads to an old history, which is not joined',
    },
  ]);
});

test('for debugging each failure is logged, without a stack', () => {
  const { log, lines } = start('debug');
  log.error({ err: serverError('25006'), request_id: 'req_1' }, 'a request failed');
  expect(lines.at(-1)).toEqual({
    level: debug,
    request_id: 'req_1',
    reason: 'refused',
    msg: 'a request failed',
  });
});

test('a statement that an overloaded server ended is logged without a stack, and is no outage', () => {
  const { log, lines } = start();
  log.error({ err: serverError('55P03') }, 'a request failed');
  expect(lines).toEqual([{ level: error, reason: 'refused', msg: 'a request failed' }]);
});

test('other errors keep their stack, and text is logged as it is', () => {
  const { log, lines } = start();
  log.error({ err: serverError('23505') }, 'a request failed');
  log.warn('only text');
  expect(lines[0]).toMatchObject({ err: { code: '23505', stack: expect.stringContaining('log.test') } });
  expect(lines[1]).toEqual({ level: warn, msg: 'only text' });
});
