/** Generates TypeScript types from the service's OpenAPI document: the schemas, and the parts of each operation. */

import type { ApiDocument, Operation, Parameter, Schema } from '../src/api/docs/reference/document.ts';

const heading =
  '/** Generated from the OpenAPI document of the service; `npm run sdk:types` makes it again. */';

export function typesFrom(document: ApiDocument): string {
  const schemas = Object.entries(document.components.schemas).map(([name, schema]) => declare(name, schema));
  const operations = Object.values(document.paths)
    .flatMap(path => Object.values(path))
    .flatMap(partsOf);
  return `${[heading, ...schemas, ...operations].join('\n\n')}\n`;
}

/** The query, the body and the answer of an operation. */
function partsOf({ operationId, parameters = [], requestBody, responses }: Operation): string[] {
  const name = operationId.charAt(0).toUpperCase() + operationId.slice(1);
  const query = parameters.filter(parameter => parameter.in === 'query');
  const body = requestBody?.content['application/json']?.schema;
  const answer = responses['200']?.content?.['application/json']?.schema;
  return [
    ...(query.length > 0 ? [declare(`${name}Query`, queryOf(query))] : []),
    ...(body ? [declare(`${name}Body`, body)] : []),
    ...(answer && !answer.$ref ? [declare(`${name}Answer`, answer)] : []),
  ];
}

/** A parameter with a default is optional. */
function queryOf(parameters: Parameter[]): Schema {
  return {
    type: 'object',
    properties: Object.fromEntries(
      parameters.map(({ name, description, schema }) => [
        name,
        { ...(description ? { description } : {}), ...schema },
      ]),
    ),
    required: parameters
      .filter(({ required, schema }) => required && !('default' in schema))
      .map(({ name }) => name),
  };
}

function declare(name: string, schema: Schema): string {
  const isShape = schema.type === 'object' && schema.properties !== undefined;
  return isShape
    ? `export interface ${safeName(name)} ${typeOf(schema, '')}`
    : `export type ${safeName(name)} = ${typeOf(schema, '')};`;
}

/** A schema called Error would hide the global one. */
const safeName = (name: string) => (name === 'Error' ? 'ErrorBody' : name);

function typeOf(schema: Schema, indent: string): string {
  if (schema.$ref) return safeName(schema.$ref.split('/').at(-1)!);
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum) return schema.enum.map(literal).join(' | ');
  if (schema.anyOf) return [...new Set(schema.anyOf.map(choice => typeOf(choice, indent)))].join(' | ');
  if (schema.type === 'array') return `Array<${typeOf(schema.items ?? {}, indent)}>`;
  if (schema.type === 'object') return shapeOf(schema, indent);
  if (schema.type === 'integer') return 'number';
  return schema.type ?? 'unknown';
}

function shapeOf({ properties, required = [], additionalProperties }: Schema, indent: string): string {
  const fields = Object.entries(properties ?? {});
  if (fields.length === 0) {
    const value = typeof additionalProperties === 'object' ? typeOf(additionalProperties, indent) : 'unknown';
    return `Record<string, ${value}>`;
  }
  const inner = `${indent}  `;
  const lines = fields.map(([name, schema]) => {
    const description = schema.description ?? schema.anyOf?.find(choice => choice.description)?.description;
    const comment = description ? `${inner}/** ${description.replaceAll('*/', '* /')} */\n` : '';
    const key = /^[a-z_]\w*$/i.test(name) ? name : literal(name);
    // Undefined is allowed too: callers often build parameters from options.
    const [mark, end] = required.includes(name) ? ['', ''] : ['?', ' | undefined'];
    return `${comment}${inner}${key}${mark}: ${typeOf(schema, inner)}${end};`;
  });
  return `{\n${lines.join('\n')}\n${indent}}`;
}

const literal = (value: unknown) =>
  typeof value === 'string' ? `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'` : String(value);
