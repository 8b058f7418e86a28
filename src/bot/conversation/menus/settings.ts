import { createPortalLink } from '../../../partners/index.ts';
import { mutableTopics } from '../../notices/outbox.ts';
import { type ChatContext, send, show } from '../chat-context.ts';
import type { Button } from '../screen.ts';
import { setMuted } from '../users.ts';
import type { PersonalAction } from './menu.ts';

async function showSettings(chat: ChatContext): Promise<void> {
  const { texts, user } = chat;
  await show(chat, texts.settings.text, [
    ...mutableTopics.map(topic => {
      const sign = user.muted.includes(topic) ? '🔕' : '🔔';
      return [{ text: `${sign} ${texts.topics[topic]}`, data: `mute:${topic}` }];
    }),
    [{ text: texts.settings.language, data: 'langs' }],
    [{ text: texts.back, data: 'home' }],
  ]);
}

/** The token is behind the `#`, which browsers do not send: it is in no log, and a preview of the link cannot use it. */
async function sendPortalLink(chat: ChatContext): Promise<void> {
  const { texts, deps } = chat;
  const portal = `${deps.publicUrl.replace(/\/$/, '')}/portal/`;
  const link = `${portal}sign-in#${await createPortalLink(chat.audit, chat.person)}`;
  // Telegram opens only https pages; on a developer's machine the link is copied.
  const buttons: Button[][] = portal.startsWith('https:')
    ? [[{ text: texts.portal.inTelegram, webApp: portal }], [{ text: texts.portal.inBrowser, url: link }]]
    : [];
  await send(chat, texts.portal.link(link), [...buttons, [{ text: texts.secret.hide, data: 'hide' }]]);
}

export const settingsActions: Record<string, PersonalAction> = {
  portal: sendPortalLink,
  set: showSettings,
  mute: async (chat, chosen) => {
    const topic = mutableTopics.find(one => one === chosen);
    if (!topic) return;
    const { muted } = chat.user;
    const now = muted.includes(topic) ? muted.filter(one => one !== topic) : [...muted, topic];
    await setMuted(chat.deps.pool, chat.user.userId, now);
    await showSettings({ ...chat, user: { ...chat.user, muted: now } });
  },
};
