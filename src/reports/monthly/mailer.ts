import type { Transporter } from 'nodemailer';
import type { SmtpSettings } from '../../base/smtp-settings.ts';

export interface Mail {
  to: string;
  subject: string;
  text: string;
  attachments?: { filename: string; content: Buffer }[];
}

export interface Mailer {
  send(mail: Mail): Promise<void>;
  close(): void;
}

const timeoutMs = 30_000;

/** Without TLS the password and the report would be readable on their way: only a server on this machine may lack it. */
const isOnThisMachine = (host: string) => ['localhost', '127.0.0.1', '[::1]'].includes(host);

/** The library is loaded with the first mail. */
export function createMailer({ host, port, isSecure, user, password, from }: SmtpSettings): Mailer {
  let transport: Promise<Transporter> | undefined;
  const open = async () => {
    const { createTransport } = await import('nodemailer');
    return createTransport({
      ...{ host: host.replace(/^\[|\]$/g, ''), port, secure: isSecure },
      requireTLS: !isSecure && !isOnThisMachine(host),
      ...(user === undefined ? {} : { auth: { user, pass: password ?? '' } }),
      ...{ connectionTimeout: timeoutMs, greetingTimeout: timeoutMs, socketTimeout: timeoutMs },
      // A mail is made of what is given here, never of a file or an address in it.
      ...{ disableFileAccess: true, disableUrlAccess: true },
    });
  };
  return {
    send: async mail => {
      transport ??= open();
      await (await transport).sendMail({ from, ...mail });
    },
    close: () => void transport?.then(opened => opened.close()),
  };
}
