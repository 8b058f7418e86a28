import type { Clock } from '../base/clock.ts';
import type { Acquire } from '../base/mutex.ts';
import type { Pool } from '../db/postgres/index.ts';
import type { Keyring } from '../db/secrets/index.ts';
import type { DepositChains } from '../deposits/index.ts';
import type { Gateway } from '../gateway/index.ts';
import type { createSender, createVault } from '../webhooks/index.ts';
import type { Language } from './texts/index.ts';

/** What the bot needs from the runtime. */
export interface BotDeps {
  pool: Pool;
  /** For everything that people ask in chats: many at once must not take the connections of payments. */
  conversationPool: Pool;
  clock: Clock;
  log: Record<'info' | 'warn' | 'error', (details: object, message: string) => void>;
  keyring: Keyring;
  gateway: Gateway;
  vault: ReturnType<typeof createVault>;
  sender: ReturnType<typeof createSender>;
  qrHosts: readonly string[];
  /** Before an image is decoded; shared with the portal and the other processes of the machine. */
  acquireImageLock: Acquire;
  rateMaxAgeSec: number;
  /** The chains on which USDT is deposited; empty: no address is shown. */
  chains: DepositChains;
  webhookAllowPrivate: boolean;
  /** Where partners reach support; undefined: no text sends them there. */
  supportUrl: string | undefined;
  /** The address of the API for partners. */
  publicUrl: string;
  telegramToken: string;
  telegramApiRoot: string;
  telegramStaffChat: number | undefined;
  telegramStaffLanguage: Language;
  /** For metrics: this process became the leader, or is it no longer. */
  onLeading?: (isLeading: boolean) => void;
  /** Undefined: updates are polled. */
  telegramWebhook: { url: string; secret: string } | undefined;
}
