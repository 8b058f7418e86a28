import { createPortalLink } from '../../../partners/index.ts';
import { type ChatContext, send } from '../chat-context.ts';
import type { Button } from '../screen.ts';
import type { PersonalAction } from './menu.ts';

/** The token is behind the `#`, which browsers do not send: it is in no log, and a preview of the link cannot use it. */
async function sendLink(chat: ChatContext): Promise<void> {
  const { texts, deps } = chat;
  const portal = `${deps.publicUrl.replace(/\/$/, '')}/portal/`;
  const link = `${portal}sign-in#${await createPortalLink(chat.audit, chat.person)}`;
  // Telegram opens only https pages; on a developer's machine the link is copied.
  const buttons: Button[][] = portal.startsWith('https:')
    ? [[{ text: texts.portal.inTelegram, webApp: portal }], [{ text: texts.portal.inBrowser, url: link }]]
    : [];
  await send(chat, {
    text: texts.portal.link(link),
    buttons: [...buttons, [{ text: texts.secret.hide, data: 'hide' }]],
  });
}

export const portalActions: Record<string, PersonalAction> = { portal: sendLink };
