import { mutableTopics } from '../../notices/topics.ts';
import { type ChatContext, show } from '../chat-context.ts';
import { setMuted } from '../users.ts';
import type { PersonalAction } from './menu.ts';

async function showSettings(chat: ChatContext): Promise<void> {
  const { texts, user } = chat;
  await show(chat, {
    text: texts.settings.text,
    buttons: [
      ...mutableTopics.map(topic => [
        {
          text: `${user.muted.includes(topic) ? '🔕' : '🔔'} ${texts.topics[topic]}`,
          data: `mute:${topic}`,
        },
      ]),
      [{ text: texts.settings.language, data: 'langs' }],
      [{ text: texts.back, data: 'home' }],
    ],
  });
}

export const settingsActions: Record<string, PersonalAction> = {
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
