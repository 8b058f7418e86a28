import { errors as contractErrors } from '../../../base/errors.ts';
import { codeBlock } from '../code-block.ts';
import { type Html, html } from '../html.ts';
import { anchorOf } from '../markdown.ts';
import {
  type ApiDocument,
  type ApiError,
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
export function errorsPage(document: ApiDocument): Html {
  const { Error: shape, ValidationError: malformed } = document.components.schemas;
  const errors = new Map(
    endpointsOf(document).flatMap(({ operation }) => errorsOf(operation).map(error => [error.code, error])),
  );
  const sorted = [...errors.values()].sort((a, b) => Number(a.status) - Number(b.status));
  return html`<h1>Errors</h1>
<p>Every error has a code, which is stable. What to do about each of them is in the guide
<a href="/docs/guides/errors">Error codes</a>.</p>
<h2 id="object">The error object</h2>
${fieldsOf(shape!, document, 'response')}${example(exampleOf(shape!, document))}<h2 id="codes">Codes</h2>
${sorted.map(error => errorSection(error, document))}<h2 id="malformed">Malformed requests</h2>
<p>HTTP 422 with <code>detail</code> instead of <code>error</code>: a field is missing or has the wrong type, and <code>loc</code> names it.</p>
${fieldsOf(malformed!, document, 'response')}${example(exampleOf(malformed!, document))}`;
}

const example = (value: unknown) => codeBlock({ language: 'json', code: toJson(value) }, 'Example response');

function errorSection({ code, status, message, retryable, sameKey }: ApiError, document: ApiDocument): Html {
  const returning = endpointsOf(document).filter(({ operation }) =>
    errorsOf(operation).some(error => error.code === code),
  );
  const isEverywhere = returning.length === endpointsOf(document).length;
  const links = returning.map(({ method, path, operation }, index) => [
    index > 0 && ', ',
    html`<a href="${operationPath(operation)}">${method} ${path}</a>`,
  ]);
  return html`<h3 id="${code}"><code>${code}</code></h3>
<p>Status ${status}. ${message}${isOptional(code) && html` <span class="label">optional</span>`}</p>
<p>Retry: ${retryable ? 'yes' : 'no'}. Idempotency key: ${sameKey ? 'the same' : 'a new one'}.
Returned by ${isEverywhere ? 'every operation' : links}. <a href="/docs/guides/errors#${guideAnchor(code, status)}">What to do about <code>${code}</code></a></p>
`;
}

const isOptional = (code: string) => !Object.hasOwn(contractErrors, code);

/** The guide has headings such as "`invalid_qr` · 400" and "`test_key_required` · 403 · addition". */
const guideAnchor = (code: string, status: string) =>
  anchorOf(`\`${code}\` · ${status}${isOptional(code) ? ' · optional' : ''}`);
