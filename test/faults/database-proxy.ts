import { createProxy } from './proxy.ts';

/** Faults of a statement: it never arrives, its answer is lost, or the connection breaks while it runs. */
export const statementFaults = ['lost_before', 'answer_lost', 'lost_meanwhile'] as const;
export type StatementFault = (typeof statementFaults)[number];

/**
 * A proxy between the service and its database. It reads just enough of PostgreSQL's protocol to find where a named
 * statement begins (Bind) and ends (Sync), and when the server has committed it (ReadyForQuery).
 */
export function createDatabaseProxy(
  targetPort: number,
  faultFor: (statement: string) => StatementFault | undefined,
): ReturnType<typeof createProxy> {
  return createProxy(targetPort, pair => {
    let pending: StatementFault | undefined;
    let answer = Buffer.alloc(0);
    const readRequests = createReader(message => {
      const name = statementOf(message);
      if (name) pending = faultFor(name);
      if (pending === 'lost_before') return pair.cut();
      pair.target.write(message);
      if (pending === 'lost_meanwhile' && message[0] === sync) pair.cut();
    });
    pair.caller.on('data', readRequests);
    pair.target.on('data', chunk => {
      if (pending !== 'answer_lost') return void pair.caller.write(chunk);
      // Held back until the server has finished: by then the statement is committed, and its answer is lost.
      answer = Buffer.concat([answer, chunk]).subarray(-readyForQuery.length);
      if (answer.equals(readyForQuery)) pair.cut();
    });
    pair.caller.on('end', () => pair.target.end());
    pair.target.on('end', () => pair.caller.end());
  });
}

const [bind, sync] = Buffer.from('BS');
const readyForQuery = Buffer.from([...Buffer.from('Z'), 0, 0, 0, 5, ...Buffer.from('I')]);

/** Cuts a stream into messages. The first has no type byte in front of its length. */
function createReader(onMessage: (message: Buffer) => void): (chunk: Buffer) => void {
  let rest = Buffer.alloc(0);
  let letters = 0;
  return chunk => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= letters + 4) {
      const length = letters + rest.readUInt32BE(letters);
      if (rest.length < length) return;
      const message = rest.subarray(0, length);
      rest = rest.subarray(length);
      letters = 1;
      onMessage(message);
    }
  };
}

/** The name of the prepared statement in a Bind; it follows the name of the portal. */
function statementOf(message: Buffer): string | undefined {
  if (message[0] !== bind) return undefined;
  const [, name] = message.subarray(5).toString('latin1').split('\0', 2);
  return name;
}
