import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import type Type from 'typebox';
import { Download, fileOf, Refused, sendRefusal } from './replies.ts';

/** What a route reads, each part by its schema. `before` runs before the body is read, and may refuse. */
interface Input<Deps> {
  params?: Type.TSchema;
  query?: Type.TSchema;
  body?: Type.TSchema;
  bodyLimit?: number;
  before?: (request: FastifyRequest, deps: Deps) => Refused | undefined;
}

type Given<Schema> = Schema extends Type.TSchema ? Type.Static<Schema> : unknown;

type RequestWith<Expected extends Input<never>> = FastifyRequest<{
  Params: Given<Expected['params']>;
  Querystring: Given<Expected['query']>;
  Body: Given<Expected['body']>;
}>;

/** A declared route is a function that adds it to the server. */
export type Route<Deps> = (scope: FastifyInstance, deps: Deps) => void;

interface Logs {
  log: { error(details: object, message: string): void };
}

/**
 * The one way to declare a route behind the pages: its path, who may call it, what it reads, and what it answers. The
 * answer is the object of the route, a refusal or a download. `placeOf` adds what the guard of the app reads.
 */
export function routesOf<Deps extends Logs, Access>(
  placeOf: (path: string, access: Access) => Pick<RouteOptions, 'url' | 'config'>,
) {
  const declare =
    (method: 'GET' | 'POST') =>
    <Expected extends Input<Deps>>(
      path: string,
      access: Access,
      input: Expected,
      handle: (request: RequestWith<Expected>, deps: Deps, reply: FastifyReply) => unknown,
    ): Route<Deps> =>
    (scope, deps) => {
      const { params, query: querystring, body, bodyLimit, before } = input;
      const schemas = Object.entries({ params, querystring, body }).filter(([, schema]) => schema);
      scope.route({
        method,
        ...placeOf(path, access),
        schema: Object.fromEntries(schemas),
        ...(bodyLimit === undefined ? {} : { bodyLimit }),
        onRequest: async (request, reply) => {
          const refusal = before?.(request, deps);
          return refusal && sendRefusal(request, reply, refusal);
        },
        handler: async (request, reply) => {
          const answer = await handle(request as RequestWith<Expected>, deps, reply);
          if (answer instanceof Refused) return sendRefusal(request, reply, answer);
          if (!(answer instanceof Download)) return answer;
          return reply
            .type(
              answer.name.endsWith('.csv') ? 'text/csv; charset=utf-8' : 'application/json; charset=utf-8',
            )
            .header('Content-Disposition', `attachment; filename="${answer.name}"`)
            .send(fileOf(deps, request, answer.pieces));
        },
      });
    };
  return { get: declare('GET'), post: declare('POST') };
}
