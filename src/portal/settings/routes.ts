import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { findMutedTopics, mutableTopics, setMuted } from '../../bot/index.ts';
import { Body, done, typed } from '../../web/index.ts';
import type { RouteDeps } from '../deps.ts';
import type { NoticeSettings } from '../shapes/settings.ts';

const Topic = Type.Union(mutableTopics.map(topic => Type.Literal(topic)));

/** Which notices a person gets from the bot, for all their partners. */
export function settingsRoutes(scope: FastifyInstance, deps: RouteDeps): void {
  const routes = typed(scope);
  const config = { allows: 'person' } as const;
  routes.get('/notices', { config }, async (request): Promise<NoticeSettings> => {
    const muted = await findMutedTopics(deps.db, request.person.userId);
    return { topics: mutableTopics.map(topic => ({ topic, is_muted: muted.includes(topic) })) };
  });

  routes.post(
    '/notices',
    { config, schema: { body: Body({ muted: Type.Array(Topic, { maxItems: mutableTopics.length }) }) } },
    async request => {
      await setMuted(deps.pool, request.person.userId, request.body.muted as string[]);
      return done;
    },
  );
}
