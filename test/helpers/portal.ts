import { createHmac } from 'node:crypto';
import { afterAll } from 'vitest';
import { type Clock, systemClock } from '../../src/base/clock.ts';
import type { Id } from '../../src/base/ids.ts';
import { createMutex } from '../../src/base/mutex.ts';
import { openOutsidePools } from '../../src/db/postgres/outside-pools.ts';
import { type Pool, transaction } from '../../src/db/postgres/pool.ts';
import { createHttpGateway } from '../../src/gateway/index.ts';
import {
  createPortalLink,
  type MemberRight,
  type MemberRole,
  type Person,
  signInWithLink,
} from '../../src/partners/index.ts';
import { addMember } from '../../src/partners/members.ts';
import { createPortal, type PortalDeps } from '../../src/portal/index.ts';
import { createSender, createVault } from '../../src/webhooks/index.ts';
import { defaultQuoteLock, patient, startApi } from './api.ts';
import { browserAt } from './console.ts';
import { keyring } from './partners.ts';

export interface PortalOptions extends Partial<PortalDeps> {
  pool: Pool;
  clock?: Clock;
  trustProxy?: string[];
  /** Of the bank side; without one, no QR code can be resolved in live mode. */
  gatewayUrl?: string;
  answerWithinMs?: number;
}

export interface PortalRoute {
  method: string;
  url: string;
  allows: MemberRight | 'person' | 'everybody' | undefined;
}

export const botToken = '5768337691:a-token-of-the-tests';

let people = 1_000n;
/** Somebody whom nobody knows yet. */
export const newPerson = (name = 'Olga'): Person => ({ userId: ++people, name });

/** The portal and the partner API on a real port of this process, so that a test can control their clock. */
export async function startPortal({
  pool,
  clock = systemClock,
  trustProxy = [],
  gatewayUrl = 'http://127.0.0.1:1',
  answerWithinMs,
  ...others
}: PortalOptions) {
  const outside = openOutsidePools(pool);
  const sender = createSender({ clock: systemClock, allowPrivate: true });
  const gateway = createHttpGateway({ url: gatewayUrl, token: undefined, clock: systemClock, ...patient });
  const routes: PortalRoute[] = [];
  const deps: Omit<PortalDeps, 'payments'> = {
    pool: outside.conversations,
    clock,
    log: { error: () => {} },
    heartbeat: { isDatabaseAnswering: () => true },
    keyring,
    vault: createVault(keyring),
    sender,
    chains: new Map(),
    gateway,
    portalSessionHours: 12,
    publicUrl: undefined,
    qrHosts: ['qr.nspk.ru', 'web.qr.nspk.ru'],
    acquireImageLock: createMutex(),
    quoteLock: defaultQuoteLock,
    rateMaxAgeSec: 300,
    smtp: undefined,
    supportUrl: undefined,
    telegramBotName: 'kopeck_bot',
    telegramToken: botToken,
    webhookAllowPrivate: true,
    ...others,
  };
  const { address } = await startApi({
    pool,
    clock,
    trustProxy,
    gatewayUrl,
    ...(answerWithinMs === undefined ? {} : { answerWithinMs }),
    portal: async (server, payments) => {
      server.addHook('onRoute', ({ method, url, config }) => {
        for (const one of [method].flat()) routes.push({ method: one, url, allows: config?.allows });
      });
      await createPortal({ ...deps, payments })(server);
    },
  });
  afterAll(async () => {
    await sender.close();
    await gateway.close();
    await outside.close();
  });
  const audit = { pool, clock, actor: 'test' };
  const visit = () => browserAt(address, '/portal/api');

  /** A browser that is signed in. Not over HTTP, where one network has one rate. */
  async function signIn(person: Person) {
    const browser = visit();
    const link = await createPortalLink(audit, person);
    const newBrowser = {
      address: '127.0.0.1',
      userAgent: 'test',
      sessionToken: undefined,
      replaces: undefined,
      isRemembered: false,
    };
    const signedIn = await signInWithLink({ ...deps, ...audit }, link, newBrowser);
    if (signedIn.outcome !== 'signed_in') throw new Error(`${person.name}: ${signedIn.outcome}`);
    browser.cookie = `__Host-kopeck-portal=${signedIn.token}`;
    browser.csrfToken = (await browser.get('/session/current')).json.session.csrf_token;
    return Object.assign(browser, { person, sessionId: signedIn.session.sessionId });
  }

  const join = (partnerId: Id<'prt'>, person: Person, role: MemberRole) =>
    transaction(pool, tx => addMember(tx, audit, partnerId, person, role));

  return {
    address,
    deps,
    audit,
    /** All routes of the portal. */
    routes,
    visit,
    signIn,
    join,
    /** A new member of the team, signed in, with paths below the partner's. */
    async member(partnerId: Id<'prt'>, role: MemberRole, person = newPerson()) {
      await join(partnerId, person, role);
      const browser = await signIn(person);
      return Object.assign(browser, {
        read: (path: string) => browser.get(`/partners/${partnerId}${path}`),
        act: (path: string, body: object = {}) => browser.post(`/partners/${partnerId}${path}`, body),
      });
    },
  };
}

/** What Telegram gives to a Mini App. */
export function initDataOf(
  user: object,
  {
    token = botToken,
    at = new Date(),
    ...more
  }: { token?: string; at?: Date } & Record<string, unknown> = {},
): string {
  const fields = new URLSearchParams({
    query_id: 'AAHdF6IQAAAAAN0XohDhrOrc',
    user: JSON.stringify(user),
    auth_date: `${Math.floor(at.getTime() / 1_000)}`,
    signature: 'of-telegram-for-others',
    ...(more as Record<string, string>),
  });
  for (const [name, value] of Object.entries(more)) if (value === undefined) fields.delete(name);
  const lines = [...fields].map(([name, value]) => `${name}=${value}`).sort();
  const key = createHmac('sha256', 'WebAppData').update(token).digest();
  fields.set('hash', createHmac('sha256', key).update(lines.join('\n')).digest('hex'));
  return fields.toString();
}
