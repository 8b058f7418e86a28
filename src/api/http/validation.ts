import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import type { FastifySchemaCompiler } from 'fastify';
import { type Detail, ShapeError } from './errors.ts';

/** Bodies must have the right types; values in a URL or header are text and are converted. */
const ajvOf = {
  body: new Ajv({ strict: false, allErrors: true }),
  rest: new Ajv({ strict: false, allErrors: true, coerceTypes: true, useDefaults: true }),
};

const partNames: Record<string, string> = {
  body: 'body',
  querystring: 'query',
  params: 'path',
  headers: 'header',
};

export const validatorCompiler: FastifySchemaCompiler<object> = ({ schema, httpPart }) => {
  const validate: ValidateFunction = (httpPart === 'body' ? ajvOf.body : ajvOf.rest).compile(schema);
  const part = partNames[httpPart ?? 'body']!;
  return data => {
    if (part === 'query') refuseOddIntegers(schema, data);
    if (validate(data)) return { value: data };
    return { error: new ShapeError(describe(part, validate.errors!)) };
  };
};

/** One detail per field: of a union only the first failing branch is reported. */
function describe(part: string, found: ErrorObject[]): Detail[] {
  const details = new Map<string, Detail>();
  for (const error of found) {
    if (error.keyword === 'anyOf') continue;
    const path = error.instancePath.split('/').slice(1);
    if (error.keyword === 'required') path.push(error.params.missingProperty);
    const loc = [part, ...path];
    if (!details.has(loc.join('/'))) details.set(loc.join('/'), { loc, ...phrase(part, error) });
  }
  return [...details.values()];
}

const typePhrases: Record<string, { msg: string; type: string }> = {
  string: { msg: 'Input should be a valid string', type: 'string_type' },
  object: { msg: 'Input should be a valid dictionary', type: 'dict_type' },
  integer: { msg: 'Input should be a valid integer', type: 'int_type' },
};

function phrase(part: string, { keyword, params, schema }: ErrorObject): { msg: string; type: string } {
  switch (keyword) {
    case 'required':
      return { msg: 'Field required', type: 'missing' };
    case 'type':
      if (part !== 'body' && params.type === 'integer') {
        const msg = 'Input should be a valid integer, unable to parse string as an integer';
        return { msg, type: 'int_parsing' };
      }
      return (
        typePhrases[params.type] ?? {
          msg: `Input should be a valid ${params.type}`,
          type: `${params.type}_type`,
        }
      );
    case 'maxLength':
      return { msg: `String should have at most ${params.limit} characters`, type: 'string_too_long' };
    case 'minLength':
      return { msg: `String should have at least ${params.limit} characters`, type: 'string_too_short' };
    case 'minimum':
      return { msg: `Input should be greater than or equal to ${params.limit}`, type: 'greater_than_equal' };
    case 'maximum':
      return { msg: `Input should be less than or equal to ${params.limit}`, type: 'less_than_equal' };
    case 'enum':
      return {
        msg: `Input should be ${(schema as string[] | undefined)?.join(', ') ?? params.allowedValues.join(', ')}`,
        type: 'enum',
      };
    default:
      return { msg: 'Input is not valid', type: 'value_error' };
  }
}

/** Ajv would convert `0x10`, `1e1` and ` 5` to integers; we accept digits only. */
function refuseOddIntegers(
  schema: { properties?: Record<string, { type?: string }> },
  data: Record<string, unknown>,
): void {
  for (const [name, { type }] of Object.entries(schema.properties ?? {})) {
    const value = data[name];
    if (type === 'integer' && typeof value === 'string' && !/^-?\d+$/.test(value))
      data[name] = 'not an integer';
  }
}
