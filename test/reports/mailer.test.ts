import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { describe, expect, test } from 'vitest';
import { createMailer } from '../../src/reports/monthly/mailer.ts';
import { afterFile } from '../helpers/after-file.ts';
import { createAuthority, issueSelfSigned } from '../helpers/certificates.ts';
import { startSmtpServer } from '../helpers/smtp-server.ts';

/** Of this machine, but for the mailer an address of another one. */
const host = '127.0.0.2';
const authority = createAuthority();
const known = getCACertificates();
setDefaultCACertificates([...known, authority.ca]);
afterFile(() => setDefaultCACertificates(known));

const start = (options: Parameters<typeof startSmtpServer>[0]) => startSmtpServer({ host, ...options });
async function send({ settings }: Awaited<ReturnType<typeof start>>) {
  const mailer = createMailer(settings);
  const mail = { to: 'boss@example.com', subject: 'Report', text: 'Attached.' };
  await mailer.send(mail).finally(() => mailer.close());
}

describe.each([
  ['TLS from the first byte', true],
  ['STARTTLS', false],
])('%s', (_name, isSecure) => {
  test('a mail arrives', async () => {
    const server = await start({ isSecure, certificate: authority.issue([host]) });
    await send(server);
    expect(server.mails.map(({ from, to }) => `${from} ${to}`)).toEqual([
      'reports@kopeck.test boss@example.com',
    ]);
    const before = server.verbs.slice(0, server.verbs.indexOf('AUTH'));
    expect(before).toEqual([...(isSecure ? [] : ['EHLO', 'STARTTLS']), 'EHLO']);
  });

  test.each([
    ['of nobody it knows', issueSelfSigned([host])],
    ['of another host', authority.issue(['elsewhere.example'])],
    ['that has expired', authority.issue([host], new Date(Date.now() - 3_600_000))],
  ])('with a certificate %s gets no password', async (_what, certificate) => {
    const server = await start({ isSecure, certificate });
    await expect(send(server)).rejects.toThrow(/certificate/i);
    expect(server.verbs).not.toContain('AUTH');
  });
});

test('a server of another machine that has no TLS gets no password', async () => {
  const server = await start({});
  await expect(send(server)).rejects.toThrow(/STARTTLS/i);
  expect(server.verbs).not.toContain('AUTH');
});
