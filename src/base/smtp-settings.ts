import { refuseSetting as refuse } from './operator-error.ts';

/** How mails are sent. */
export interface SmtpSettings {
  host: string;
  port: number;
  /** TLS from the first byte; else STARTTLS, which only a server on this machine may lack. */
  isSecure: boolean;
  user: string | undefined;
  password: string | undefined;
  from: string;
}

const maxAddressLength = 254;

/** What every mail system takes. No space, line break, quote or comma: it goes into headers as it is. */
const mailAddress = /^[\w.%+-]{1,64}@[a-z0-9-]+(?:\.[a-z0-9-]+)+$/i;

export const isMailAddress = (text: string) => text.length <= maxAddressLength && mailAddress.test(text);

/** Both or neither. The URL has the password, so no message repeats it. */
export function readSmtp(read: (name: string) => string | undefined): SmtpSettings | undefined {
  const [text, from] = [read('SMTP_URL'), read('SMTP_FROM')];
  if (text === undefined && from === undefined) return undefined;
  const url = text !== undefined && URL.canParse(text) ? new URL(text) : undefined;
  const isSmtp = url && ['smtp:', 'smtps:'].includes(url.protocol) && url.hostname !== '' && url.port !== '0';
  if (!isSmtp || !['', '/'].includes(url.pathname) || url.search !== '' || url.hash !== '')
    return refuse('SMTP_URL', 'must be smtp://USER:PASSWORD@HOST:PORT or smtps://…, with SMTP_FROM');
  if (from === undefined || !isMailAddress(from))
    return refuse('SMTP_FROM', 'must be an e-mail address such as reports@example.com, with SMTP_URL');
  const isSecure = url.protocol === 'smtps:';
  return {
    host: url.hostname,
    port: url.port === '' ? (isSecure ? 465 : 587) : Number(url.port),
    isSecure,
    user: decoded(url.username),
    password: decoded(url.password),
    from,
  };
}

function decoded(text: string): string | undefined {
  try {
    return text === '' ? undefined : decodeURIComponent(text);
  } catch {
    return refuse('SMTP_URL', 'must have its user and password percent-encoded');
  }
}
