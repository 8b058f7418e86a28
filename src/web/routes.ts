import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import Type from 'typebox';
import { Download, fileOf, Refused, sendRefusal } from './replies.ts';

/** Fields by their names, or the schema of all of them. */
type Fields = Type.TObject | Type.TProperties;

/** What a route reads besides the parameters in its path. `before` runs before the body is read, and may refuse. */
interface Input<Deps> {
  query?: Fields;
  /** With exactly these fields. */
  body?: Fields;
  bodyLimit?: number;
  before?: (request: FastifyRequest, deps: Deps) => Refused | undefined;
  /** What the path names, for the handler; it is refused if that is not there. */
  find?: (request: FastifyRequest, deps: Deps) => unknown;
}

type FoundBy<Expected> = Expected extends { find: (...given: never[]) => infer Found }
  ? Exclude<Awaited<Found>, Refused>
  : undefined;

type Given<Expected> = Expected extends Type.TObject
  ? Type.Static<Expected>
  : Expected extends Type.TProperties
    ? Type.Static<Type.TObject<Expected>>
    : unknown;

type ParamsOf<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Record<Name, string> & ParamsOf<Rest>
  : Path extends `${string}:${infer Name}`
    ? Record<Name, string>
    : unknown;

type RequestWith<Path extends string, Expected extends Input<never>> = FastifyRequest<{
  Params: ParamsOf<Path>;
  Querystring: Given<Expected['query']>;
  Body: Given<Expected['body']>;
}>;

/** What most handlers return. */
export type Answer<Output> = Promise<Output | Refused>;

/** A declared route is a function that adds it to the server. */
export interface Route<Deps, Output = unknown> {
  (scope: FastifyInstance, deps: Deps): void;
  /** Only a type, for the pages: nothing is there at run time. */
  answer?: Output;
}

/** What a route answers unless it refuses. */
export type AnswerOf<Declared extends { answer?: unknown }> = NonNullable<Declared['answer']>;

interface Logs {
  log: { error(details: object, message: string): void };
}

/**
 * The one way to declare a route behind the pages: its path, who may call it, what it reads, and what it answers. The
 * answer is the object of the route, a refusal or a download. `optionsOf` adds what the guard of the app reads.
 */
export function routesOf<Deps extends Logs, Access>(
  optionsOf: (path: string, access: Access) => Pick<RouteOptions, 'url' | 'config'>,
) {
  const declare =
    (method: 'GET' | 'POST') =>
    <const Path extends string, Expected extends Input<Deps>, Output>(
      path: Path,
      access: Access,
      input: Expected,
      handle: (
        request: RequestWith<Path, Expected>,
        deps: Deps,
        found: FoundBy<Expected>,
        reply: FastifyReply,
      ) => Output,
    ): Route<Deps, Exclude<Awaited<Output>, Refused | Download>> =>
    (scope, deps) => {
      const { query, body, bodyLimit, before, find } = input;
      scope.route({
        method,
        ...optionsOf(path, access),
        schema: {
          ...(query && { querystring: schemaOf(query, {}) }),
          ...(body && { body: schemaOf(body, { additionalProperties: false }) }),
        },
        ...(bodyLimit === undefined ? {} : { bodyLimit }),
        onRequest: async (request, reply) => {
          const refusal = before?.(request, deps);
          return refusal && sendRefusal(request, reply, refusal);
        },
        handler: async (request, reply) => {
          const found = await find?.(request, deps);
          if (found instanceof Refused) return sendRefusal(request, reply, found);
          const asked = request as RequestWith<Path, Expected>;
          const answer = await handle(asked, deps, found as FoundBy<Expected>, reply);
          if (answer instanceof Refused) return sendRefusal(request, reply, answer);
          if (!(answer instanceof Download)) return answer;
          return reply
            .type(answer.type)
            .header('Content-Disposition', `attachment; filename="${answer.name}"`)
            .send(fileOf(deps, request, answer.pieces));
        },
      });
    };
  return { get: declare('GET'), post: declare('POST') };
}

const schemaOf = (fields: Fields, options: Type.TObjectOptions) =>
  Type.IsObject(fields) ? fields : Type.Object(fields, options);
