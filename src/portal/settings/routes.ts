import Type from 'typebox';
import { findChatSettings, languages, mutableTopics, setLanguage, setMuted } from '../../bot/index.ts';
import { setTimeZone } from '../../partners/index.ts';
import { done, oneOf, refuse, Text } from '../../web/index.ts';
import { auditContextOf, get, post } from '../route.ts';

const Topic = oneOf(...mutableTopics);

const nothingChosen = { language: null, muted: [] as string[] };

/** Without a language this person has never written to the bot. Notices about security cannot be muted. */
export const showNotices = get('/notices', 'person', {}, async (request, deps) => {
  const { language, muted } = (await findChatSettings(deps.db, request.person.userId)) ?? nothingChosen;
  return { language, topics: mutableTopics.map(topic => ({ topic, is_muted: muted.includes(topic) })) };
});

const changeTimeZone = post('/time-zone', 'own', { body: { time_zone: Text } }, async (request, deps) => {
  const { partnerId } = request.member.partner;
  const outcome = await setTimeZone(auditContextOf(deps, request), partnerId, request.body.time_zone);
  if (outcome === 'done') return done;
  return refuse(400, 'invalid_request', 'Choose a time zone by its IANA name, such as Europe/Moscow.');
});

/**
 * The time zone of a partner; which notices a person gets from the bot, for all their partners, and in which language.
 */
export const settingsRoutes = [
  changeTimeZone,
  showNotices,
  post(
    '/notices',
    'person',
    { body: { muted: Type.Array(Topic, { maxItems: mutableTopics.length }) } },
    async (request, deps) => {
      await setMuted(deps.pool, request.person.userId, request.body.muted);
      return done;
    },
  ),
  post('/notices/language', 'person', { body: { language: oneOf(...languages) } }, async (request, deps) => {
    await setLanguage(deps.pool, request.person.userId, request.body.language);
    return done;
  }),
];
