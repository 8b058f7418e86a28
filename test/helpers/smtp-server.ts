import { createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { createServer as createTlsServer, TLSSocket } from 'node:tls';
import { afterFile } from './after-file.ts';
import type { Issued } from './certificates.ts';

export interface ReceivedMail {
  from: string;
  to: string;
  /** As it was sent: headers and body. */
  raw: string;
}

interface SmtpOptions {
  user?: string;
  password?: string;
  host?: string;
  /** With one it speaks TLS: from the first byte if it `isSecure`, otherwise from STARTTLS on. */
  certificate?: Issued;
  isSecure?: boolean;
}

/** A mail server on this machine that speaks SMTP with a password. */
export async function startSmtpServer(options: SmtpOptions = {}) {
  const {
    user = 'kopeck',
    password = 'p@ss word',
    host = '127.0.0.1',
    certificate,
    isSecure = false,
  } = options;
  const mails: ReceivedMail[] = [];
  const verbs: string[] = [];
  const violations: string[] = [];
  const answers: string[] = [];
  const sockets = new Set<Socket>();

  function serve(socket: Socket, isEncrypted: boolean, isNew = true): void {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => {});
    const say = (line: string) => socket.write(`${line}\r\n`);
    let [isKnown, from, to] = [false, '', ''];
    let data: string[] | undefined;
    if (isNew) say('220 test ESMTP');
    const lines = createInterface({ input: socket, crlfDelay: Number.POSITIVE_INFINITY }).on('line', line => {
      if (data) {
        if (line !== '.') return void data.push(line.replace(/^\./, ''));
        const raw = data.join('\r\n');
        data = undefined;
        const answer = answers.shift();
        if (answer === undefined) mails.push({ from, to, raw });
        return void say(answer ?? '250 accepted');
      }
      const verb = line.split(' ', 1)[0]!.toUpperCase();
      verbs.push(verb);
      const mayEncrypt = certificate !== undefined && !isEncrypted;
      if (verb === 'EHLO')
        return void say(`250-test\r\n${mayEncrypt ? '250-STARTTLS\r\n' : ''}250 AUTH PLAIN`);
      if (verb === 'STARTTLS' && mayEncrypt) {
        lines.close();
        say('220 go on');
        return serve(new TLSSocket(socket, { isServer: true, ...certificate }), true, false);
      }
      if (verb === 'AUTH') {
        const given = Buffer.from(line.split(' ')[2] ?? '', 'base64').toString();
        isKnown = given === `\0${user}\0${password}`;
        return void say(isKnown ? '235 welcome' : '535 wrong password');
      }
      if (verb === 'QUIT') return void socket.end('221 bye\r\n');
      if (verb === 'RSET') return void say('250 ok');
      if (!isKnown) return void say('530 sign in first');
      if (verb === 'MAIL') from = /<(.*)>/.exec(line)![1]!;
      else if (verb === 'RCPT') to = /<(.*)>/.exec(line)![1]!;
      else if (verb === 'DATA') {
        data = [];
        return void say('354 go on');
      } else violations.push(line);
      say('250 ok');
    });
  }
  const server = isSecure
    ? createTlsServer({ ...certificate }, socket => serve(socket, true))
    : createServer(socket => serve(socket, false));
  await new Promise<void>(resolve => server.listen(0, host, resolve));
  const { port } = server.address() as { port: number };
  afterFile(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return {
    ...{ mails, violations, verbs },
    settings: { host, port, isSecure, user, password, from: 'reports@kopeck.test' },
    /** How the next mail is answered. */
    answerNext: (answer: string) => void answers.push(answer),
  };
}
