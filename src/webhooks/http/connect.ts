import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { buildConnector } from 'undici';
import { undici } from '../../http-client/index.ts';

/** Why there is no connection. `busy`: this machine has no sockets left, the receiver was not contacted. */
export type ConnectFault = 'blocked_address' | 'dns' | 'refused' | 'closed' | 'timeout' | 'tls' | 'busy';

export class ConnectError extends Error {
  readonly fault: ConnectFault;
  constructor(fault: ConnectFault) {
    super(fault);
    this.fault = fault;
  }
}

export interface ConnectorOptions {
  /** The SSRF guard: which IP addresses may be connected to. */
  isAllowed(ip: string): boolean;
  /** All addresses of a name. */
  lookup(hostname: string): Promise<LookupAddress[]>;
  /** For the name, the connection and the TLS handshake together. */
  timeoutMs: number;
  /** Trusted instead of Node's certificate authorities. */
  ca?: string;
}

/** Connects to allowed addresses only; over TLS, only if the certificate is valid for the name. */
export function createConnector(options: ConnectorOptions): buildConnector.connector {
  const { isAllowed, lookup, timeoutMs, ca } = options;

  /**
   * Node connects to the addresses that this returns and looks nothing up itself, so what was checked is what is
   * connected to (no DNS rebinding). One forbidden address among good ones is enough to refuse: Node chooses.
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

  const connect = undici().buildConnector({
    timeout: timeoutMs,
    lookup: lookupAllowed,
    // Tries all addresses of the lookup one after another; without it, the lookup may return only one.
    autoSelectFamily: true,
    allowH2: false,
    // No session resumption: a resumed session shows no certificate.
    maxCachedSessions: 0,
    // Set here, so that no environment variable can switch it off.
    rejectUnauthorized: true,
    ...(ca ? { ca } : {}),
  } as buildConnector.BuildOptions);

  return (target, callback) => {
    // For an IP address Node calls no lookup.
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
        // Unreachable as long as the two checks above work: defence in depth.
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
  // Errors of certificates and handshakes have dozens of codes: every code that is not the network's counts as TLS.
  return faults[(error as NodeJS.ErrnoException).code ?? ''] ?? (protocol === 'https:' ? 'tls' : 'refused');
}

export interface TlsFacts {
  protocol: string;
  /** When the receiver's certificate expires. */
  validUntil: string;
}

export function readTls(socket: TLSSocket): TlsFacts | undefined {
  const certificate = socket.getPeerX509Certificate();
  const protocol = socket.getProtocol();
  return certificate && protocol
    ? { protocol, validUntil: certificate.validToDate.toISOString() }
    : undefined;
}
