import { mutableTopics } from '../../notices/topics.ts';
import { setMuted } from '../users.ts';
import { show, type Visit } from '../visit.ts';
import type { PersonalAction } from './menu.ts';

async function showSettings(visit: Visit): Promise<void> {
  const { say, user } = visit;
  await show(visit, {
    text: say.settings.text,
    buttons: [
      ...mutableTopics.map(topic => [
        {
          text: `${user.muted.includes(topic) ? '🔕' : '🔔'} ${say.topics[topic]}`,
          data: `mute:${topic}`,
        },
      ]),
      [{ text: say.settings.language, data: 'langs' }],
      [{ text: say.back, data: 'home' }],
    ],
  });
}

export const settingsActions: Record<string, PersonalAction> = {
  set: showSettings,
  mute: async (visit, chosen) => {
    const topic = mutableTopics.find(one => one === chosen);
    if (!topic) return;
    const { muted } = visit.user;
    const now = muted.includes(topic) ? muted.filter(one => one !== topic) : [...muted, topic];
    await setMuted(visit.deps.pool, visit.user.userId, now);
    await showSettings({ ...visit, user: { ...visit.user, muted: now } });
  },
};
