/** A request has an invalid field; the message names it and becomes a 400. */
export class BadInput extends Error {}

export type Fields = Record<string, unknown>;

/** With `allowed`, a misspelt field is refused rather than silently ignored. */
export function fieldsOf(body: unknown, allowed?: readonly string[]): Fields {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new BadInput('The body must be a JSON object.');
  }
  const unknown = allowed && Object.keys(body).find(name => !allowed.includes(name));
  if (unknown !== undefined) throw new BadInput(`There is no field "${unknown}"; known: ${allowed}.`);
  return body as Fields;
}

export function text(fields: Fields, name: string, pattern = /^\P{Cc}{1,200}$/u): string {
  const value = fields[name];
  if (typeof value === 'string' && pattern.test(value)) return value;
  throw new BadInput(`"${name}" must be a string like ${pattern.source}.`);
}

export function integer(fields: Fields, name: string, min: number, max = Number.MAX_SAFE_INTEGER): number {
  const value = fields[name];
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max) return value;
  throw new BadInput(`"${name}" must be an integer from ${min} to ${max}.`);
}

export function boolean(fields: Fields, name: string): boolean {
  const value = fields[name];
  if (typeof value === 'boolean') return value;
  throw new BadInput(`"${name}" must be true or false.`);
}

export function oneOf<Choice extends string>(
  fields: Fields,
  name: string,
  choices: readonly Choice[],
): Choice {
  const choice = choices.find(candidate => candidate === fields[name]);
  if (choice !== undefined) return choice;
  throw new BadInput(`"${name}" must be one of ${choices.join(', ')}.`);
}

/** What `read` returns of the field; undefined when it is missing, null when it is null. */
export function optional<Value, Rest extends unknown[]>(
  read: (fields: Fields, name: string, ...rest: Rest) => Value,
  fields: Fields,
  name: string,
  ...rest: Rest
): Value | null | undefined {
  const value = fields[name];
  return value === undefined || value === null ? value : read(fields, name, ...rest);
}
