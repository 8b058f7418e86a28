import { afterAll, afterEach, expect } from 'vitest';
import { type Clock, systemClock } from '../../src/base/clock.ts';
import type { Id } from '../../src/base/ids.ts';
import { createMutex } from '../../src/base/mutex.ts';
import { startBot } from '../../src/bot/index.ts';
import { openOutsidePools } from '../../src/db/postgres/outside-pools.ts';
import type { Pool } from '../../src/db/postgres/pool.ts';
import type { DepositChains } from '../../src/deposits/index.ts';
import { createHttpGateway } from '../../src/gateway/index.ts';
import { acceptInvitation, invite, type MemberRole, signUp } from '../../src/partners/index.ts';
import { createSender, createVault } from '../../src/webhooks/index.ts';
import { auditContextOf, createDatabase, keyring } from '../helpers/database.ts';
import { startTelegram } from '../telegram/index.ts';

export interface BotOptions {
  pool: Pool;
  clock?: typeof systemClock;
  gatewayUrl?: string;
  staffChat?: number;
  staffLanguage?: 'ru' | 'en';
  webhook?: { url: string; secret: string };
  chains?: DepositChains;
  supportUrl?: string;
}

/** Runs the real bot against the fake Telegram until the test file ends. */
export async function startTestBot({ pool, clock = systemClock, ...options }: BotOptions) {
  const telegram = await startTelegram();
  const gateway = createHttpGateway({
    url: options.gatewayUrl ?? 'http://127.0.0.1:1',
    token: undefined,
    clock: systemClock,
  });
  const outside = openOutsidePools(pool);
  const sender = createSender({ clock: systemClock, allowPrivate: true });
  const logged: string[] = [];
  const keep = (details: object, message: string) =>
    void logged.push(`${message} ${JSON.stringify(details)}`);
  // In real time, ten times faster than in production, so that tests do not wait for intervals.
  const fastClock: Clock = {
    ...clock,
    sleep: (ms, signal) => systemClock.sleep(ms / 10, signal),
    timer: systemClock.timer,
  };
  const running: (() => Promise<void>)[] = [];
  const acquireImageLock = createMutex();
  /** Stops all running bots. */
  const stop = async () => {
    await Promise.all(running.splice(0).map(end => end()));
  };
  /** Starts one more bot, like a second process. */
  const start = (changes = { webhookAllowPrivate: true }) => {
    const bot = startBot({
      pool,
      conversationPool: outside.conversations,
      clock: fastClock,
      log: { info: keep, warn: keep, error: keep },
      keyring,
      gateway,
      sender,
      vault: createVault(keyring),
      qrHosts: ['qr.nspk.ru', 'web.qr.nspk.ru'],
      acquireImageLock,
      rateMaxAgeSec: 300,
      chains: options.chains ?? new Map(),
      ...changes,
      supportUrl: options.supportUrl,
      publicUrl: 'https://pay.example.com',
      telegramToken: telegram.token,
      telegramApiRoot: telegram.root,
      telegramStaffChat: options.staffChat,
      telegramStaffLanguage: options.staffLanguage ?? 'en',
      telegramWebhook: options.webhook,
    });
    running.push(bot.stop);
    return bot;
  };
  const first = start();
  afterEach(() => {
    expect(telegram.violations).toEqual([]);
    expect(logged.join('\n')).not.toContain(telegram.token);
  });
  afterAll(async () => {
    await stop();
    await telegram.close();
    await gateway.close();
    await sender.close();
    await outside.close();
  });
  return { telegram, logged, stop, start, first };
}

export type TestBot = Awaited<ReturnType<typeof startTestBot>>;

/** A database of its own with a running bot, and people who use it. */
export async function createBotWorld(options: Omit<BotOptions, 'pool'> = {}) {
  const { pool, sql, url } = await createDatabase();
  const world = await startTestBot({ ...options, pool });
  const audit = auditContextOf(pool, options.clock);
  return {
    ...world,
    ...{ pool, sql, url },
    audit,
    ownerOf: (name: string, languageCode?: 'ru' | 'en') => ownerOf(world, pool, name, languageCode),
    /** A user who joined the team of a partner, and has its menu open. */
    memberOf: async (
      partnerId: Id<'prt'>,
      role: MemberRole,
      firstName: string,
      languageCode: 'ru' | 'en' = 'en',
    ) => {
      const member = world.telegram.user({ firstName, languageCode });
      const person = { userId: BigInt(member.account.id), name: firstName };
      const { outcome } = await acceptInvitation(audit, await invite(audit, partnerId, null, role), person);
      expect(outcome).toBe('joined');
      await member.writes('/menu', languageCode === 'en' ? new RegExp(`Your role: ${role}`) : /Ваша роль/);
      return member;
    },
  };
}

/** A user who owns a partner and has its menu open. */
export async function ownerOf(world: TestBot, pool: Pool, name: string, languageCode: 'ru' | 'en' = 'en') {
  const owner = world.telegram.user({ firstName: `Owner of ${name}`, languageCode });
  const person = { userId: BigInt(owner.account.id), name: owner.account.first_name };
  const audit = { pool, clock: systemClock, actor: `telegram:${person.userId}` };
  const signed = await signUp(audit, person, name);
  if (signed.outcome !== 'signed_up') throw new Error(signed.outcome);
  await owner.writes('/menu', new RegExp(name));
  return { owner, ...signed.partner };
}
