import type { UserFromGetMe } from 'grammy/types';
import type { Upload } from './body.ts';
import type { Callbacks } from './callbacks.ts';
import type { Chats } from './chats.ts';
import type { FileStore } from './files.ts';
import type { Updates } from './updates.ts';
import type { Webhook } from './webhook.ts';

/** All that Telegram knows; shared by the side of the bot and that of the people. */
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

/** What a method needs beside its parameters. */
export interface Call {
  world: World;
  uploads: Map<string, Upload>;
  /** The caller has gone away. */
  gone: AbortSignal;
}
