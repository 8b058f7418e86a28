import { type ApiDocument, type Content, resolveSchema, type Schema, withoutNull } from './document.ts';

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

export interface Example {
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
