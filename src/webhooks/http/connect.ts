import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { buildConnector } from 'undici';

/** Why there is no connection. `busy` is our own lack of sockets: the receiver was not even asked. */
export type ConnectFault = 'blocked_address' | 'dns' | 'refused' | 'closed' | 'timeout' | 'tls' | 'busy';

export class ConnectError extends Error {
  readonly fault: ConnectFault;
  constructor(fault: ConnectFault) {
    super(fault);
    this.fault = fault;
  }
}

export interface ConnectorOptions {
  /** Which IP addresses may be connected to. */
  isAllowed(ip: string): boolean;
  /** All addresses of a name. */
  lookup(hostname: string): Promise<LookupAddress[]>;
  /** For the name, the connection and the TLS handshake together. */
  timeoutMs: number;
  /** Trusted instead of the certificate authorities that Node knows. */
  ca?: string;
}

/** Connects to allowed addresses only, and over TLS only to who can prove the name. */
export function createConnector(options: ConnectorOptions): buildConnector.connector {
  const { isAllowed, lookup, timeoutMs, ca } = options;

  /**
   * Node connects to what this answers and asks nobody else, so what was checked is what is connected to. One bad
   * address among good ones is enough to refuse: which of them would be taken is not ours to say.
   */
  const lookupAllowed: LookupFunction = (hostname, _options, callback) => {
    lookup(hostname).then(
      addresses => {
        if (addresses.length === 0) callback(new ConnectError('dns'), []);
        else if (addresses.every(({ address }) => isAllowed(address))) callback(null, addresses);
        else callback(new ConnectError('blocked_address'), []);
      },
      () => callback(new ConnectError('dns'), []),
    );
  };

  const connect = buildConnector({
    timeout: timeoutMs,
    lookup: lookupAllowed,
    // Tries the addresses that the lookup answered one after another; without it, the lookup may answer only one.
    autoSelectFamily: true,
    allowH2: false,
    // Every connection proves the name anew: a resumed session would show no certificate.
    maxCachedSessions: 0,
    // Said here, no environment variable can switch it off.
    rejectUnauthorized: true,
    ...(ca ? { ca } : {}),
  } as buildConnector.BuildOptions);

  return (target, callback) => {
    // For an IP address no lookup is asked.
    if (isIP(target.hostname) && !isAllowed(target.hostname)) {
      queueMicrotask(() => callback(new ConnectError('blocked_address'), null));
      return;
    }
    connect(target, (error, socket) => {
      if (error) {
        callback(new ConnectError(faultOf(error, target.protocol)), null);
      } else if (isAllowed(socket.remoteAddress ?? '')) {
        callback(null, socket);
      } else {
        // Not to be reached as long as the two checks above hold: what is sent relies on more than one line.
        socket.destroy();
        callback(new ConnectError('blocked_address'), null);
      }
    });
  };
}

const faults: Record<string, ConnectFault> = {
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  ETIMEDOUT: 'timeout',
  ECONNRESET: 'closed',
  EPIPE: 'closed',
  ECONNREFUSED: 'refused',
  EHOSTUNREACH: 'refused',
  ENETUNREACH: 'refused',
  EADDRNOTAVAIL: 'refused',
  EMFILE: 'busy',
  ENFILE: 'busy',
  ENOBUFS: 'busy',
  ENOMEM: 'busy',
};

function faultOf(error: Error, protocol: string): ConnectFault {
  if (error instanceof ConnectError) return error.fault;
  // What is wrong with a certificate or a handshake has dozens of names; all that is not the network's is TLS.
  return faults[(error as NodeJS.ErrnoException).code ?? ''] ?? (protocol === 'https:' ? 'tls' : 'refused');
}

export interface TlsFacts {
  protocol: string;
  /** When the receiver's certificate ends. */
  validUntil: string;
}

export function readTls(socket: TLSSocket): TlsFacts | undefined {
  const certificate = socket.getPeerX509Certificate();
  const protocol = socket.getProtocol();
  return certificate && protocol
    ? { protocol, validUntil: certificate.validToDate.toISOString() }
    : undefined;
}
