import type { UserFromGetMe } from 'grammy/types';
import type { Upload } from './body.ts';
import type { Callbacks } from './callbacks.ts';
import type { Chats } from './chats.ts';
import type { FileStore } from './files.ts';
import type { Updates } from './updates.ts';
import type { Webhook } from './webhook.ts';

/** The state of the fake Telegram, shared by the Bot API and the fake users. */
export interface World {
  /** In milliseconds. */
  now: () => number;
  bot: UserFromGetMe;
  chats: Chats;
  files: FileStore;
  updates: Updates;
  webhook: Webhook;
  callbacks: Callbacks;
}

/** What a method gets besides its parameters. */
export interface Call {
  world: World;
  uploads: Map<string, Upload>;
  /** Aborted when the client disconnects. */
  gone: AbortSignal;
}
