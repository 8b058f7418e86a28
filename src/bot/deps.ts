import type { Clock } from '../base/clock.ts';
import type { Pool } from '../db/pool.ts';
import type { Gateway } from '../gateway/index.ts';
import type { createSender, createVault } from '../webhooks/index.ts';

/** What the bot works with. */
export interface BotDeps {
  pool: Pool;
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
  /** Where partners reach the API. */
  publicUrl: string;
  telegramToken: string;
  telegramApiRoot: string;
  telegramStaffChat: number | undefined;
  /** Undefined means that Telegram is asked for its news. */
  telegramWebhook: { url: string; secret: string } | undefined;
}
