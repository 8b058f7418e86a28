import pg from 'pg';
import { systemClock } from '../../base/clock.ts';
import { type DatabaseUrl, describeServer, type ServerAddress } from '../../base/database-url.ts';
import { NotAnsweringError } from './database-errors.ts';

/** Which of several servers a new connection goes to. */
export type ServerChoice = ReturnType<typeof createServerChoice>;

/** A server that answers, and whether and in which history it can be written to. */
interface Answer {
  system: string;
  /** Null where nothing can be written. */
  timeline: number | null;
}

/** Short: a server that is slower than this counts as gone, and connections wait for the slowest. */
const askTimeoutMs = 1_000;

const question = `
  SELECT (pg_control_system()).system_identifier::text AS system,
         CASE WHEN NOT pg_is_in_recovery() AND current_setting('transaction_read_only') = 'off'
              THEN ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int END AS timeline`;

/** All servers are asked at once, so one that is gone costs a second, and not one per connection. */
export function createServerChoice({ servers, mustBeWritable }: DatabaseUrl, connection: pg.ClientConfig) {
  let chosen: ServerAddress | undefined;
  let asking: Promise<ServerAddress> | undefined;

  /** Asks all of them: another one may have been promoted, while the old one goes on answering. */
  async function chooseAgain(): Promise<ServerAddress> {
    const answers = await Promise.allSettled(servers.map(server => ask(server, connection)));
    const index = pickServer(answers, mustBeWritable);
    chosen = index === undefined ? undefined : servers[index];
    if (chosen) return chosen;
    throw reasonFor(servers, answers);
  }

  return {
    /** The one chosen last, if connections to it work; otherwise all are asked. */
    choose: async () => {
      if (chosen) return chosen;
      asking ??= chooseAgain().finally(() => {
        asking = undefined;
      });
      return asking;
    },
    chooseAgain,
    /** A connection to it failed. */
    forget: (server: ServerAddress) => {
      if (chosen === server) chosen = undefined;
    },
  };
}

/**
 * The first that answers or, if it must be writable, the first of those; but not one of an older timeline than another of
 * the same cluster: that is an old primary which was not stopped when a standby was promoted.
 */
export function pickServer(
  answers: PromiseSettledResult<Answer>[],
  mustBeWritable: boolean,
): number | undefined {
  const usable = answers.flatMap((answer, index) =>
    answer.status === 'fulfilled' && (!mustBeWritable || answer.value.timeline !== null)
      ? [{ index, system: answer.value.system, timeline: answer.value.timeline ?? 0 }]
      : [],
  );
  const first = usable[0];
  if (!first || !mustBeWritable) return first?.index;
  const sameCluster = usable.filter(({ system }) => system === first.system);
  return sameCluster.reduce((best, other) => (other.timeline > best.timeline ? other : best)).index;
}

/** What a server itself has said, such as a wrong password, helps more than that another does not answer. */
function reasonFor(servers: ServerAddress[], answers: PromiseSettledResult<Answer>[]): Error {
  const reasons = answers.map(answer =>
    answer.status === 'rejected' ? (answer.reason as Error) : undefined,
  );
  const refusal = reasons.find(reason => reason instanceof pg.DatabaseError);
  if (refusal) return refusal;
  const states = servers.map((server, index) => {
    const reason = reasons[index];
    return `${describeServer(server)}: ${reason ? ((reason as NodeJS.ErrnoException).code ?? reason.message) : 'read-only'}`;
  });
  return new NotAnsweringError(`no server can be used, ${states.join(', ')}`);
}

async function ask(server: ServerAddress, connection: pg.ClientConfig): Promise<Answer> {
  const client = new pg.Client({ ...connection, application_name: 'kopeck server check' });
  // Its failure is that of the question; without a listener the event would end the process.
  client.on('error', () => {});
  leadTo(client, server);
  const cancelDeadline = systemClock.timer(askTimeoutMs, () => dropConnection(client));
  try {
    await client.connect();
    const { rows } = await client.query<Answer>(question);
    // Awaited, so that the server has a place again for the connection that follows.
    await client.end();
    return rows[0]!;
  } catch (error) {
    dropConnection(client);
    throw error;
  } finally {
    cancelDeadline();
  }
}

/** The driver verifies the certificate for this host too. */
function leadTo(client: pg.Client, { host, port }: ServerAddress): void {
  client.host = host;
  client.port = port;
}

/** Destroyed and not ended: a server that does not answer would not answer to that either. */
export function dropConnection(client: pg.Client): void {
  (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
}

/** The driver's client, which knows one server, for several: it asks first which one to connect to. */
export class DatabaseClient extends pg.Client {
  #servers: ServerChoice | undefined;
  #isEnded = false;

  constructor(config: pg.ClientConfig & { servers?: ServerChoice | undefined } = {}) {
    super(config);
    this.#servers = config.servers;
    // What was asked of a connection that breaks fails by itself. Without a listener the event would end the process, and
    // the pool has none while it verifies a new connection.
    this.on('error', () => {});
  }

  override connect(): Promise<pg.Client>;
  override connect(done: (error: Error) => void): void;
  override connect(done?: (error: Error) => void): Promise<pg.Client> | undefined {
    const connecting = this.#servers ? this.#connectToOneOf(this.#servers) : super.connect();
    if (!done) return connecting;
    connecting.then(() => (done as (error: Error | null) => void)(null), done);
    return undefined;
  }

  async #connectToOneOf(servers: ServerChoice): Promise<pg.Client> {
    const server = await servers.choose();
    // The driver would not remember it: nothing was connected yet.
    if (this.#isEnded) throw new Error('Connection terminated');
    leadTo(this, server);
    try {
      return await super.connect();
    } catch (error) {
      servers.forget(server);
      throw error;
    }
  }

  override end(): Promise<void>;
  override end(done: (error: Error) => void): void;
  override end(done?: (error: Error) => void): Promise<void> | undefined {
    this.#isEnded = true;
    if (!done) return super.end();
    super.end(done);
    return undefined;
  }
}
