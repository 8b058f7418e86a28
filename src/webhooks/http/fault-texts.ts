/** Why an attempt got no response, by the code that is stored, as people read it. */
const texts: Record<string, string> = {
  blocked_address: 'address not allowed',
  dns: 'DNS lookup failed',
  refused: 'connection refused',
  closed: 'connection closed',
  timeout: 'timed out',
  tls: 'TLS error',
  busy: 'no free connection',
  bad_answer: 'invalid HTTP response',
};

/** The status of a response, or why there was none; a code without a text is shown as it is. */
export const responseText = ({ status, error }: { status: number | null; error: string | null }): string =>
  status === null ? (texts[error ?? ''] ?? error ?? '') : `${status}`;
