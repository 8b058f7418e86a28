import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import {
  findChatSettings,
  type Language,
  languages,
  mutableTopics,
  setLanguage,
  setMuted,
} from '../../bot/index.ts';
import { Body, done, typed } from '../../web/index.ts';
import type { RouteDeps } from '../deps.ts';
import type { NoticeSettings } from '../shapes/settings.ts';

const Topic = Type.Union(mutableTopics.map(topic => Type.Literal(topic)));

const nothingChosen = { language: null, muted: [] as string[] };

/** Which notices a person gets from the bot, for all their partners, and in which language. */
export function settingsRoutes(scope: FastifyInstance, deps: RouteDeps): void {
  const routes = typed(scope);
  const config = { allows: 'person' } as const;
  routes.get('/notices', { config }, async (request): Promise<NoticeSettings> => {
    const { language, muted } = (await findChatSettings(deps.db, request.person.userId)) ?? nothingChosen;
    return { language, topics: mutableTopics.map(topic => ({ topic, is_muted: muted.includes(topic) })) };
  });

  routes.post(
    '/notices',
    { config, schema: { body: Body({ muted: Type.Array(Topic, { maxItems: mutableTopics.length }) }) } },
    async request => {
      await setMuted(deps.pool, request.person.userId, request.body.muted as string[]);
      return done;
    },
  );

  routes.post(
    '/notices/language',
    { config, schema: { body: Body({ language: Type.Union(languages.map(one => Type.Literal(one))) }) } },
    async request => {
      await setLanguage(deps.pool, request.person.userId, request.body.language as Language);
      return done;
    },
  );
}
