import type { Clock } from '../base/clock.ts';
import type { Pool } from '../db/pool.ts';
import type { Gateway } from '../gateway/index.ts';
import type { createSender, createVault } from '../webhooks/index.ts';

/** What the bot needs from the runtime. */
export interface BotDeps {
  pool: Pool;
  /** For everything that people ask in chats: many at once must not take the connections of payments. */
  conversationPool: Pool;
  clock: Clock;
  log: {
    info(details: object, message: string): void;
    warn(details: object, message: string): void;
    error(details: object, message: string): void;
  };
  secretKey: string;
  gateway: Gateway;
  vault: ReturnType<typeof createVault>;
  sender: ReturnType<typeof createSender>;
  qrHosts: readonly string[];
  rateMaxAgeSec: number;
  webhookAllowPrivate: boolean;
  /** The address of the API for partners. */
  publicUrl: string;
  telegramToken: string;
  telegramApiRoot: string;
  telegramStaffChat: number | undefined;
  /** Undefined: updates are polled. */
  telegramWebhook: { url: string; secret: string } | undefined;
}
