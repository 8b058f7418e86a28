import { addJob } from './jobs.ts';
import { edit, send, type Visit } from './visit.ts';

const shownMs = 60_000;

/**
 * Shows a secret in a message that goes away. It is sent without the secret first, and its removal is on record
 * before the secret is in it: whatever dies in between, nothing stays in the chat for ever.
 */
export async function showSecret(visit: Visit, html: string): Promise<void> {
  const { deps, say, chatId } = visit;
  const messageId = await send(visit, { text: say.secret.coming, buttons: [] });
  await addJob(deps.pool, deps.clock, BigInt(chatId), { do: 'delete', messageId }, shownMs);
  const text = `${html}\n\n${say.secret.goesAway(shownMs / 1_000)}`;
  await edit(visit, messageId, { text, buttons: [[{ text: say.secret.hide, data: 'hide' }]] });
}
