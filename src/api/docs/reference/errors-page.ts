import { errors as contractErrors } from '../../../base/errors.ts';
import { codeBlock } from '../code-block.ts';
import { type Html, html } from '../html.ts';
import { anchorOf } from '../markdown.ts';
import {
  type ApiError,
  type Edition,
  endpointsOf,
  errorsOf,
  exampleOf,
  operationPath,
  toJson,
} from './document.ts';
import { fieldsOf } from './fields.ts';

export const errorLink = (code: string) =>
  html`<a href="/docs/reference/errors#${code}"><code>${code}</code></a>`;

/** Every error code with its status, its advice, and the operations that return it. */
export function errorsPage(edition: Edition): Html {
  const { document, texts } = edition;
  const { title, lead, object, codes, malformed: malformedTitle, malformedText } = texts.errors;
  const example = (value: unknown) =>
    codeBlock({ language: 'json', code: toJson(value) }, texts.reference.exampleResponse);
  const { Error: shape, ValidationError: malformed } = document.components.schemas;
  const errors = new Map(
    endpointsOf(document).flatMap(({ operation }) => errorsOf(operation).map(error => [error.code, error])),
  );
  const sorted = [...errors.values()].sort((a, b) => Number(a.status) - Number(b.status));
  return html`<h1>${title}</h1>
<p>${lead}</p>
<h2 id="object">${object}</h2>
${fieldsOf(shape!, edition, 'response')}${example(exampleOf(shape!, document))}<h2 id="codes">${codes}</h2>
${sorted.map(error => errorSection(error, edition))}<h2 id="malformed">${malformedTitle}</h2>
<p>${malformedText}</p>
${fieldsOf(malformed!, edition, 'response')}${example(exampleOf(malformed!, document))}`;
}

function errorSection(
  { code, status, message, retryable, sameKey }: ApiError,
  { document, texts }: Edition,
): Html {
  const { retry, key, returnedBy, everyOperation, advice } = texts.errors;
  const returning = endpointsOf(document).filter(({ operation }) =>
    errorsOf(operation).some(error => error.code === code),
  );
  const isEverywhere = returning.length === endpointsOf(document).length;
  const links = returning.map(({ method, path, operation }, index) => [
    index > 0 && ', ',
    html`<a href="${operationPath(operation)}">${method} ${path}</a>`,
  ]);
  return html`<h3 id="${code}"><code>${code}</code></h3>
<p>${texts.reference.status} ${status}. ${message}${isOptional(code) && html` <span class="label">${texts.reference.optional}</span>`}</p>
<p>${retry(retryable)} ${key(sameKey)}
${returnedBy(isEverywhere ? everyOperation : links)} <a href="/docs/guides/errors#${guideAnchor(code, status)}">${advice(code)}</a></p>
`;
}

const isOptional = (code: string) => !Object.hasOwn(contractErrors, code);

/** The guide in English has headings such as "`invalid_qr` · 400" and "`test_key_required` · 403 · optional". */
const guideAnchor = (code: string, status: string) =>
  anchorOf(`\`${code}\` · ${status}${isOptional(code) ? ' · optional' : ''}`);
