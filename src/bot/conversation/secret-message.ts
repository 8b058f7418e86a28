import type { MemberRight } from '../../partners/index.ts';
import { addJob } from '../notices/outbox.ts';
import { canStillAct, edit, type PartnerContext, send } from './chat-context.ts';

const shownMs = 60_000;

export type SecretMessage = NonNullable<Awaited<ReturnType<typeof sendSecretMessage>>>;

/**
 * A message that is deleted after a minute. It is sent without the secret, and its deletion is in the outbox before the
 * secret is in it: wherever the process dies, no secret stays in the chat. Callers create the secret after this call, so
 * none is created that cannot be shown. Undefined if the user has lost the right since; they get a message.
 */
export async function sendSecretMessage(chat: PartnerContext, needed: MemberRight) {
  const { deps, texts, api, chatId } = chat;
  const messageId = await send(chat, texts.secret.coming);
  await addJob(deps.pool, deps.clock, BigInt(chatId), { do: 'delete', messageId }, shownMs);
  /** Deletes the message if there is no secret to show. */
  const discard = async () => {
    await api.deleteMessage(chatId, messageId).catch(() => {});
  };
  if (!(await canStillAct(chat, needed))) {
    await discard();
    return undefined;
  }
  return {
    /** Rejects if the secret was not shown for certain. */
    reveal: async (html: string) => {
      const text = `${html}\n\n${texts.secret.goesAway(shownMs / 1_000)}`;
      if (!(await edit(chat, messageId, text, [[{ text: texts.secret.hide, data: 'hide' }]])))
        throw new Error('the message was deleted before the secret was shown');
    },
    discard,
  };
}
