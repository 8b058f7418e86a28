import type { SiteTexts } from '../locale.ts';

/** The parts of the OpenAPI document that the reference shows. */
export interface ApiDocument {
  info: { title: string; version: string; description: string };
  /** The title is the name as readers see it. */
  tags: { name: string; title?: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, { post: Operation }>;
  components: { schemas: Record<string, Schema> };
}

export interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  tags: [string, ...string[]];
  parameters?: Parameter[];
  requestBody?: { content: Record<string, Content> };
  responses: Record<string, { description: string; content?: Record<string, Content> }>;
}

/** What the generator of the document writes as the description of a response that has none. */
export const nothingSaid = 'Default Response';

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  description?: string;
  example?: unknown;
  schema: Schema;
}

export interface Content {
  schema: Schema;
  example?: unknown;
  examples?: Record<string, { summary?: string; value: unknown }>;
}

export interface Schema {
  $ref?: string;
  type?: Exclude<keyof SiteTexts['fields']['types'], 'time' | 'any'>;
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  items?: Schema;
  anyOf?: Schema[];
  enum?: unknown[];
  const?: unknown;
  format?: string;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  default?: unknown;
  examples?: unknown[];
}

/** What the reference is rendered from: the document in one language, and what the site says around it. */
export interface Edition {
  document: ApiDocument;
  texts: SiteTexts;
}

/** An operation with its place: the method and the path of an endpoint. */
export interface Endpoint {
  method: string;
  path: string;
  operation: Operation;
}

/** The endpoints in the order of their tags, and within a tag as they were registered. */
export function endpointsOf({ paths, tags }: ApiDocument): Endpoint[] {
  const endpoints = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
  const rank = ({ operation }: Endpoint) => tags.findIndex(({ name }) => name === operation.tags[0]);
  return endpoints.sort((a, b) => rank(a) - rank(b));
}

/** `createPayment` has the page `create-payment`. */
export const operationPath = ({ operationId }: Operation) =>
  `/docs/reference/${operationId.replaceAll(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)}`;

export const eventPath = (event: string) => `/docs/events/${event.replaceAll('.', '-')}`;

/** A schema itself, where there is a reference to it. */
export const resolveSchema = (schema: Schema, { components }: ApiDocument): Schema =>
  schema.$ref === undefined ? schema : components.schemas[schema.$ref.split('/').at(-1)!]!;

/** What a schema accepts besides `null`. */
export function withoutNull(schema: Schema): { alternatives: Schema[]; isNullable: boolean } {
  const { anyOf = [schema] } = schema;
  const alternatives = anyOf.filter(({ type }) => type !== 'null');
  return { alternatives, isNullable: alternatives.length < anyOf.length };
}

export type ApiError = ReturnType<typeof errorsOf>[number];

/** The errors that an operation may answer with; the examples of its responses name them. */
export function errorsOf({ responses }: Operation) {
  const refusals = Object.entries(responses).filter(([status]) => /^[45]/.test(status));
  return refusals.flatMap(([status, { content }]) =>
    Object.values(content?.['application/json']?.examples ?? {}).flatMap(({ value }) => {
      const { error } = value as {
        error?: { code: string; message: string; retryable: boolean; same_key: boolean };
      };
      return error ? [{ ...error, status, sameKey: error.same_key }] : [];
    }),
  );
}

const fallbacks: Record<string, unknown> = {
  string: 'string',
  integer: 1,
  number: 1,
  boolean: true,
};

/** A value that a schema describes: its own example, or one made of the examples of its parts. */
export function exampleOf(schema: Schema, document: ApiDocument): unknown {
  const resolved = resolveSchema(schema, document);
  const { examples, enum: values, properties, items, default: byDefault } = resolved;
  if (examples) return examples[0];
  if (resolved.const !== undefined) return resolved.const;
  if (byDefault !== undefined) return byDefault;
  if (values) return values[0];
  const [alternative] = withoutNull(resolved).alternatives;
  if (resolved.anyOf && alternative) return exampleOf(alternative, document);
  if (items) return [exampleOf(items, document)];
  if (properties)
    return Object.fromEntries(
      Object.entries(properties).map(([name, property]) => [name, exampleOf(property, document)]),
    );
  return fallbacks[resolved.type ?? ''] ?? null;
}

interface Example {
  summary?: string;
  value: unknown;
}

/** The examples of a body: those that the document has, or a made one. */
export function examplesOf(
  { example, examples, schema }: Content,
  document: ApiDocument,
): [Example, ...Example[]] {
  const [first, ...rest] = Object.values(examples ?? {});
  return first ? [first, ...rest] : [{ value: example ?? exampleOf(schema, document) }];
}

export const toJson = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;
