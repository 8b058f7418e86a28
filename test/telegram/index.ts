import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { UserFromGetMe } from 'grammy/types';
import { createCallbacks } from './callbacks.ts';
import { createChats } from './chats.ts';
import type { World } from './context.ts';
import { createFaults, type Fault, type FaultScope } from './faults.ts';
import { createFileStore } from './files.ts';
import { createApiServer, type RecordedCall } from './server.ts';
import { createUpdates } from './updates.ts';
import { createFakeUsers, type FakeUsers } from './users.ts';
import { createWebhook } from './webhook.ts';

export { dialogueToSvg } from './svg.ts';

/** A fake Telegram on this machine: the Bot API and its users. */
export interface Telegram extends FakeUsers {
  /** The address of the API, for TELEGRAM_API_ROOT. */
  root: string;
  token: string;
  bot: UserFromGetMe;
  /** Every call that came with the right token, in order. */
  calls: RecordedCall[];
  /** Invalid calls of the bot; tests assert at the end that there are none. */
  violations: string[];
  /** Makes the next calls fail. */
  fail(fault: Fault, scope?: FaultScope): void;
  clearFaults(): void;
  /** How long every call takes from now on. */
  setLatency(milliseconds: number): void;
  /** Ids of presses that the bot has not answered so far. */
  unansweredPresses(): string[];
  /** All presses so far are too old to be answered. */
  expirePresses(): void;
  /** How many updates the bot has not confirmed yet. */
  pendingUpdates(): number;
  close(): Promise<void>;
}

/** Starts it on a free port; `now` is its clock, in milliseconds. */
export async function startTelegram({ now = Date.now }: { now?: () => number } = {}): Promise<Telegram> {
  const world = createWorld(now);
  const faults = createFaults();
  const calls: RecordedCall[] = [];
  const violations: string[] = [];
  const token = `${world.bot.id}:AA${randomBytes(25).toString('base64url').slice(0, 33)}`;
  let latency = 0;
  const server = createApiServer({ token, world, faults, calls, violations, latencyMs: () => latency });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    root: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token,
    bot: world.bot,
    calls,
    violations,
    ...createFakeUsers(world),
    fail: faults.add,
    clearFaults: faults.clear,
    setLatency: milliseconds => {
      latency = milliseconds;
    },
    unansweredPresses: world.callbacks.unanswered,
    expirePresses: world.callbacks.expire,
    pendingUpdates: () => world.updates.pending.length,
    close: async () => {
      world.webhook.remove();
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

function createWorld(now: () => number): World {
  const updates = createUpdates();
  return {
    now,
    bot: {
      id: 7_019_283_746,
      is_bot: true,
      first_name: 'Kopeck',
      username: 'kopeck_test_bot',
      can_join_groups: true,
      can_read_all_group_messages: false,
      supports_inline_queries: false,
      can_connect_to_business: false,
      has_main_web_app: false,
      has_topics_enabled: false,
      allows_users_to_create_topics: false,
      can_manage_bots: false,
      supports_join_request_queries: false,
    },
    chats: createChats(now),
    files: createFileStore(),
    updates,
    webhook: createWebhook(updates, now),
    callbacks: createCallbacks(now),
  };
}
