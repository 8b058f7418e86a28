import { isIP } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import { systemClock } from '../../base/clock.ts';
import { bad, type Finding, ok, warn } from './finding.ts';

const dayMs = 86_400_000;
const warnDays = 14;
const badDays = 3;
const timeoutMs = 5_000;

/** How a partner sees the certificate of PUBLIC_URL. `ca` replaces the authorities that this machine trusts. */
export async function examineCertificate(publicUrl: string, ca?: string): Promise<Finding> {
  const { hostname, port } = new URL(publicUrl);
  const host = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  const renew = `renew it on the proxy that serves ${hostname}`;
  let socket: TLSSocket;
  try {
    socket = await connected(host, Number(port || 443), ca);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return warn(
      `${publicUrl} cannot be reached from here (${code ?? message}): check the proxy, the DNS and the firewall`,
    );
  }
  const { valid_to: validTo } = socket.getPeerCertificate();
  const reason = socket.authorized ? undefined : (socket.authorizationError as unknown as string | Error);
  socket.destroy();
  const days = Math.floor((Date.parse(validTo) - systemClock.nowMs()) / dayMs);
  if (days < 0) return bad(`ended ${validTo}: ${renew}`);
  if (reason) {
    const code =
      typeof reason === 'string' ? reason : ((reason as NodeJS.ErrnoException).code ?? reason.message);
    return bad(`is not valid for ${hostname} (${code}): ${renew}, with all intermediate certificates`);
  }
  const left = `ends in ${days} ${days === 1 ? 'day' : 'days'}`;
  if (days < badDays) return bad(`${left}: ${renew} now`);
  return days < warnDays ? warn(`${left}: ${renew}`) : ok(left);
}

/** Connects whatever the certificate is, so that it can be looked at. */
function connected(host: string, port: number, ca: string | undefined): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect({
      host,
      port,
      rejectUnauthorized: false,
      ...(isIP(host) ? {} : { servername: host }),
      ...(ca === undefined ? {} : { ca }),
    });
    // For the whole handshake: the time-out of a socket begins again with every byte.
    const cancel = systemClock.timer(timeoutMs, () => socket.destroy(new Error('no answer')));
    socket.once('close', cancel);
    socket.once('secureConnect', () => resolve(socket));
    socket.once('error', reject);
  });
}
