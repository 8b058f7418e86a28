import { type Html, html, type Part } from '../html.ts';
import { renderInline } from '../markdown.ts';
import { type ApiDocument, type Parameter, resolveSchema, type Schema, withoutNull } from './document.ts';

interface Field {
  name: string;
  schema: Schema;
  description: string;
  isRequired: boolean;
  example?: unknown;
}

/** Requests say which fields they need; a response has all of its fields, so it says which may be missing. */
type Direction = 'request' | 'response';

/** The fields of an object, those of nested objects below them. */
export function fieldsOf(schema: Schema, document: ApiDocument, direction: Direction): Html {
  const { properties = {}, required = [] } = resolveSchema(schema, document);
  const fields = Object.entries(properties).map(([name, property]) => {
    const resolved = resolveSchema(property, document);
    const [only] = withoutNull(resolved).alternatives;
    const description = resolved.description ?? resolveSchema(only!, document).description ?? '';
    return { name, schema: property, description, isRequired: required.includes(name) };
  });
  return listOf(fields, document, direction);
}

export function parametersOf(parameters: Parameter[], document: ApiDocument): Html {
  const fields = parameters.map(({ name, schema, description = '', required, example }) => ({
    name,
    schema,
    description,
    isRequired: required === true && schema.default === undefined,
    example,
  }));
  return listOf(fields, document, 'request');
}

const listOf = (fields: Field[], document: ApiDocument, direction: Direction) => html`<ul class="fields">
${fields.map(field => fieldItem(field, document, direction))}</ul>
`;

/** A mark at the start of a description that is shown as a label. */
const optional = 'Optional. ';

function fieldItem(field: Field, document: ApiDocument, direction: Direction): Html {
  const { name, schema, isRequired, example } = field;
  const isOptional = field.description.startsWith(optional);
  const description = isOptional ? field.description.slice(optional.length) : field.description;
  const labels: Part[] = [
    direction === 'request' && isRequired && html` <span class="label required">required</span>`,
    (isOptional || !isRequired) && html` <span class="label">optional</span>`,
  ];
  const rules = [...rulesOf(schema, document), ...(example === undefined ? [] : [exampleText(example)])];
  return html`<li><p><code class="name">${name}</code> <span class="type">${typeOf(schema, document)}</span>${labels}</p>
${description !== '' && html`<p>${renderInline(description)}.</p>\n`}${rules.length > 0 && html`<p class="rules">${rules.map((rule, index) => [index > 0 && ' · ', rule])}</p>\n`}${nestedOf(schema, document, direction)}</li>
`;
}

const exampleText = (value: unknown) => html`Example: <code>${plain(value)}</code>`;
const plain = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

/** The object in a field, or the one that its list consists of. */
function nestedOf(schema: Schema, document: ApiDocument, direction: Direction): Part {
  const objects = withoutNull(resolveSchema(schema, document))
    .alternatives.map(one => resolveSchema(one, document))
    .map(one => (one.items ? resolveSchema(one.items, document) : one));
  const nested = objects.find(({ properties = {} }) => Object.keys(properties).length > 0);
  if (!nested) return undefined;
  const count = Object.keys(nested.properties!).length;
  return html`<details open><summary>${count} fields</summary>
${fieldsOf(nested, document, direction)}</details>
`;
}

/** `string`, `integer or null`, `list of Payment`. */
function typeOf(schema: Schema, document: ApiDocument): string {
  const name = schema.$ref?.split('/').at(-1);
  if (name !== undefined) return name;
  const { alternatives, isNullable } = withoutNull(schema);
  const types = alternatives.map(one => {
    if (one.$ref !== undefined) return typeOf(one, document);
    if (one.items) return `list of ${plural(typeOf(one.items, document))}`;
    return one.format === 'date-time' ? 'time' : (one.type ?? (one.enum ? 'string' : 'any'));
  });
  return [...types, ...(isNullable ? ['null'] : [])].join(' or ');
}

const plural = (type: string) => (/^[a-z]+$/.test(type) ? `${type}s` : type);

function rulesOf(schema: Schema, document: ApiDocument): Part[] {
  const resolved = resolveSchema(schema, document);
  const { alternatives } = withoutNull(resolved);
  // Of what several say, the first counts.
  const all: Schema = Object.assign({}, ...alternatives.toReversed(), resolved);
  const { enum: values, minimum, maximum, maxLength, default: byDefault, examples } = all;
  const isObject = all.properties !== undefined;
  return [
    values !== undefined && [
      values.length === 1 ? 'Always ' : 'One of ',
      values.map((value, index) => [index > 0 && ', ', html`<code>${plain(value)}</code>`]),
    ],
    minimum !== undefined && maximum !== undefined && `${minimum} to ${maximum.toLocaleString('en')}`,
    maxLength !== undefined && `At most ${maxLength} characters`,
    byDefault !== undefined && html`Default: <code>${plain(byDefault)}</code>`,
    values === undefined && !isObject && examples !== undefined && exampleText(examples[0]),
  ].filter(rule => rule !== false);
}
