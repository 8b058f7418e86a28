import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createChats } from './chats.ts';
import type { World } from './methods.ts';
import { createApiServer, createFaults, type RecordedCall } from './server.ts';
import { createUpdates } from './updates.ts';
import { createFakeUsers } from './user.ts';

export { dialogueToSvg } from './svg.ts';

export type Telegram = Awaited<ReturnType<typeof startTelegram>>;

/** A fake Telegram on a free port of this machine: what the bot uses of the Bot API, and users. */
export async function startTelegram() {
  const world = createWorld();
  const { takeFault, ...faults } = createFaults();
  /** Every call that came with the right token, in order. */
  const calls: RecordedCall[] = [];
  /** Invalid calls of the bot; tests assert at the end that there are none. */
  const violations: string[] = [];
  const token = `${world.bot.id}:AA${randomBytes(25).toString('base64url').slice(0, 33)}`;
  const server = createApiServer({ token, world, takeFault, calls, violations });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    /** The address of the API, for TELEGRAM_API_ROOT. */
    root: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token,
    calls,
    violations,
    ...faults,
    ...createFakeUsers(world),
    /** Ids of presses that the bot has not answered so far. */
    unansweredPresses: () => [...world.presses.keys()],
    /** How many updates the bot has not confirmed yet. */
    pendingUpdates: () => world.updates.pending.length,
    close: async () => {
      world.updates.deleteWebhook();
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

const createWorld = (): World => ({
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
  chats: createChats(),
  updates: createUpdates(),
  presses: new Map(),
});
