import { refuseSetting } from './operator-error.ts';

export interface ServerAddress {
  /** A name, an IP address or, if it begins with a slash, the folder of a unix socket; empty for the driver's default. */
  host: string;
  port: number;
}

export type DatabaseUrl = ReturnType<typeof parseDatabaseUrl>;

const shape = /^(postgres(?:ql)?:\/\/)([^/?#]*@)?([^/?#@]*)(\/[^?#]*)?(\?[^#]*)?$/;
const oneServer = /^(?:\[([0-9a-f:.%]+)\]|([^:[\]]*))(?::(\d{0,5}))?$/i;
const defaultPort = 5432;

const refuse = (wanted: string) => refuseSetting('DATABASE_URL', wanted);

/**
 * Reads an address as PostgreSQL's own library does, with one server or a list of them. It may hold a password, so no
 * message repeats it.
 */
export function parseDatabaseUrl(text: string) {
  const [, scheme, user = '', authority, path = '', query = ''] = shape.exec(text) ?? [];
  if (scheme === undefined || authority === undefined)
    return refuse('must look like postgresql://user:password@host:5432/database');
  const parameters = new URLSearchParams(query);
  const servers = serversOf(authority, parameters.get('host'), parameters.get('port'));
  const mustBeWritable = isWritableWanted(parameters.get('target_session_attrs') ?? 'any');
  for (const name of ['host', 'port', 'target_session_attrs']) parameters.delete(name);
  const ofFirst =
    servers.length === 1 ? text : `${scheme}${user}${withServer(servers[0]!, path, parameters)}`;
  return {
    /** In the order in which they are tried. */
    servers,
    /** Whether a server on which nothing can be written is passed over. */
    mustBeWritable,
    /** The same address with one server only: the driver knows no lists. */
    ofFirst,
    /** Servers and database, for messages: never with a password. */
    place: `${servers.map(describeServer).join(',')}${path}`,
  };
}

export const describeServer = ({ host, port }: ServerAddress) =>
  `${host.includes(':') ? `[${host}]` : host || 'the local socket'}:${port}`;

function serversOf(authority: string, hosts: string | null, ports: string | null): ServerAddress[] {
  const named = authority.split(',').map(parseServer);
  const listed = hosts?.split(',').map(host => ({ host, port: undefined })) ?? named;
  const givenPorts = ports?.split(',').map(parsePort) ?? named.map(({ port }) => port);
  if (ports !== null || hosts !== null) {
    if (givenPorts.length !== 1 && givenPorts.length !== listed.length)
      refuse('must have one port for all hosts, or one for each');
  }
  const servers = listed.map(({ host }, index) => ({
    host,
    port: (givenPorts.length === 1 ? givenPorts[0] : givenPorts[index]) ?? defaultPort,
  }));
  if (servers.length > 1 && servers.some(({ host }) => host === '')) refuse('must name each of its hosts');
  return servers;
}

function parseServer(text: string): { host: string; port: number | undefined } {
  const [whole, address, name, port = ''] = oneServer.exec(text) ?? [];
  if (whole === undefined) return refuse('must have hosts such as db1:5432,db2:5432 or [::1]:5432');
  return { host: address ?? decodeHost(name!), port: parsePort(port) };
}

/** The folder of a socket may stand in place of the host, with its slashes encoded. */
function decodeHost(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return refuse('must have hosts such as db1:5432,db2:5432 or [::1]:5432');
  }
}

function parsePort(text: string): number | undefined {
  if (text === '') return undefined;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return port >= 1 && port <= 65_535 ? port : refuse('must have ports from 1 to 65535');
}

/** The service writes, so it cannot ask for a standby. */
function isWritableWanted(attributes: string): boolean {
  if (attributes === 'any') return false;
  return ['read-write', 'primary'].includes(attributes)
    ? true
    : refuse('must have target_session_attrs read-write, primary or any');
}

function withServer({ host, port }: ServerAddress, path: string, parameters: URLSearchParams): string {
  const isSocket = host.startsWith('/');
  if (isSocket) parameters.set('host', host);
  const authority = isSocket ? `localhost:${port}` : describeServer({ host, port });
  const query = parameters.size > 0 ? `?${parameters}` : '';
  return `${authority}${path}${query}`;
}
