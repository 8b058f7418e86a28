import { type Html, html, type Part } from '../html.ts';
import { renderInline } from '../markdown.ts';
import { type Edition, type Parameter, resolveSchema, type Schema, withoutNull } from './document.ts';

interface Field {
  name: string;
  schema: Schema;
  description: string;
  isRequired: boolean;
  example?: unknown;
}

/** Requests say which fields they need; a response has all of its fields, so it says which may be missing. */
export type Direction = 'request' | 'response';

/** The fields of an object, those of nested objects below them. */
export function fieldsOf(schema: Schema, edition: Edition, direction: Direction): Html {
  const { document } = edition;
  const { properties = {}, required = [] } = resolveSchema(schema, document);
  const fields = Object.entries(properties).map(([name, property]) => {
    const resolved = resolveSchema(property, document);
    const [only] = withoutNull(resolved).alternatives;
    const description = resolved.description ?? resolveSchema(only!, document).description ?? '';
    return { name, schema: property, description, isRequired: required.includes(name) };
  });
  return listOf(fields, edition, direction);
}

export function parametersOf(parameters: Parameter[], edition: Edition, direction: Direction): Html {
  const fields = parameters.map(({ name, schema, description = '', required, example }) => ({
    name,
    schema,
    description,
    isRequired: required === true && schema.default === undefined,
    example,
  }));
  return listOf(fields, edition, direction);
}

const listOf = (fields: Field[], edition: Edition, direction: Direction) => html`<ul class="fields">
${fields.map(field => fieldItem(field, edition, direction))}</ul>
`;

function fieldItem(field: Field, edition: Edition, direction: Direction): Html {
  const { name, schema, isRequired, example } = field;
  const { fields: texts } = edition.texts;
  const isOptional = field.description.startsWith(texts.optionalMark);
  const description = isOptional ? field.description.slice(texts.optionalMark.length) : field.description;
  const labels: Part[] = [
    direction === 'request' && isRequired && html` <span class="label required">${texts.required}</span>`,
    (isOptional || !isRequired) && html` <span class="label">${texts.optional}</span>`,
  ];
  const rules = [
    ...rulesOf(schema, edition),
    ...(example === undefined ? [] : [exampleText(example, edition)]),
  ];
  return html`<li><p><code class="name">${name}</code> <span class="type">${typeOf(schema, edition)}</span>${labels}</p>
${description !== '' && html`<p>${renderInline(description)}${!description.endsWith('.') && '.'}</p>\n`}${rules.length > 0 && html`<p class="rules">${rules.map((rule, index) => [index > 0 && ' · ', rule])}</p>\n`}${nestedOf(schema, edition, direction)}</li>
`;
}

const exampleText = (value: unknown, { texts }: Edition) =>
  html`${texts.fields.example} <code>${plain(value)}</code>`;
const plain = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

/** The object in a field, or the one that its list consists of. */
function nestedOf(schema: Schema, edition: Edition, direction: Direction): Part {
  const { document, texts } = edition;
  const objects = withoutNull(resolveSchema(schema, document))
    .alternatives.map(one => resolveSchema(one, document))
    .map(one => (one.items ? resolveSchema(one.items, document) : one));
  const nested = objects.find(({ properties = {} }) => Object.keys(properties).length > 0);
  if (!nested) return undefined;
  const count = Object.keys(nested.properties!).length;
  return html`<details open><summary>${texts.fields.count(count)}</summary>
${fieldsOf(nested, edition, direction)}</details>
`;
}

/** `string`, `integer or null`, `list of Payment`; after "list of" in the plural. */
function typeOf(schema: Schema, edition: Edition, form: 'one' | 'many' = 'one'): string {
  const { listOf, or, types } = edition.texts.fields;
  const { alternatives, isNullable } = withoutNull(schema);
  const names = alternatives.map(({ $ref, items, format, type, enum: values }) => {
    if ($ref !== undefined) return $ref.split('/').at(-1)!;
    if (items) return `${listOf} ${typeOf(items, edition, 'many')}`;
    return types[format === 'date-time' ? 'time' : (type ?? (values ? 'string' : 'any'))][form];
  });
  return [...names, ...(isNullable ? [types.null.one] : [])].join(` ${or} `);
}

function rulesOf(schema: Schema, edition: Edition): Part[] {
  const { document, texts } = edition;
  const { always, oneOf, range, maxLength: atMost, byDefault: otherwise } = texts.fields;
  const resolved = resolveSchema(schema, document);
  const { alternatives } = withoutNull(resolved);
  // Of what several say, the first counts.
  const all: Schema = Object.assign({}, ...alternatives.toReversed(), resolved);
  const { enum: values, minimum, maximum, maxLength, default: byDefault, examples } = all;
  const isObject = all.properties !== undefined;
  return [
    values !== undefined && [
      `${values.length === 1 ? always : oneOf} `,
      values.map((value, index) => [index > 0 && ', ', html`<code>${plain(value)}</code>`]),
    ],
    minimum !== undefined && maximum !== undefined && range(minimum, maximum),
    maxLength !== undefined && atMost(maxLength),
    byDefault !== undefined && html`${otherwise} <code>${plain(byDefault)}</code>`,
    values === undefined && !isObject && examples !== undefined && exampleText(examples[0], edition),
  ].filter(rule => rule !== false);
}
