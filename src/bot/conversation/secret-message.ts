import { addJob } from '../notices/outbox.ts';
import { type ChatContext, edit, send } from './chat-context.ts';

const shownMs = 60_000;

/** A message that is ready to show a secret. */
export interface SecretMessage {
  /** Rejects if the secret was not shown for certain. */
  reveal(html: string): Promise<void>;
  /** Deletes the message if there is no secret to show. */
  discard(): Promise<void>;
}

/**
 * A message that is deleted after a minute. It is sent without the secret, and its deletion is in the outbox before the
 * secret is in it: wherever the process dies, no secret stays in the chat. Callers create the secret after this call, so
 * none is created that cannot be shown.
 */
export async function sendSecretMessage(chat: ChatContext): Promise<SecretMessage> {
  const { deps, texts, api, chatId } = chat;
  const messageId = await send(chat, { text: texts.secret.coming, buttons: [] });
  await addJob(deps.pool, deps.clock, BigInt(chatId), { do: 'delete', messageId }, shownMs);
  return {
    reveal: async html => {
      const text = `${html}\n\n${texts.secret.goesAway(shownMs / 1_000)}`;
      const buttons = [[{ text: texts.secret.hide, data: 'hide' }]];
      if (!(await edit(chat, messageId, { text, buttons })))
        throw new Error('the message was deleted before the secret was shown');
    },
    discard: async () => {
      await api.deleteMessage(chatId, messageId).catch(() => {});
    },
  };
}
