import { addJob } from '../notices/jobs.ts';
import { edit, send, type Visit } from './visit.ts';

const shownMs = 60_000;

/** A message in which a secret can be shown, once there is one. */
export interface SecretMessage {
  /** Fails if it cannot be known to have been shown. */
  reveal(html: string): Promise<void>;
  /** There is no secret after all. */
  discard(): Promise<void>;
}

/**
 * A message that goes away. It is sent without the secret first, and its removal is on record before the secret is in
 * it: whatever dies in between, nothing stays in the chat for ever. Who makes a secret makes it after this, so that
 * there is none which nobody could be shown.
 */
export async function sendSecretMessage(visit: Visit): Promise<SecretMessage> {
  const { deps, say, api, chatId } = visit;
  const messageId = await send(visit, { text: say.secret.coming, buttons: [] });
  await addJob(deps.pool, deps.clock, BigInt(chatId), { do: 'delete', messageId }, shownMs);
  return {
    reveal: async html => {
      const text = `${html}\n\n${say.secret.goesAway(shownMs / 1_000)}`;
      const buttons = [[{ text: say.secret.hide, data: 'hide' }]];
      if (!(await edit(visit, messageId, { text, buttons })))
        throw new Error('the message for a secret was gone before the secret was in it');
    },
    discard: async () => {
      await api.deleteMessage(chatId, messageId).catch(() => {});
    },
  };
}
