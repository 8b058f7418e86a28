import { codeBlock, codeTabs, wideTable } from '../code-block.ts';
import { type Html, html, type Part } from '../html.ts';
import { renderInline, renderMarkdown } from '../markdown.ts';
import {
  type ApiDocument,
  type Content,
  type Endpoint,
  errorsOf,
  examplesOf,
  type Operation,
  type Parameter,
  toJson,
} from './document.ts';
import { errorLink } from './errors-page.ts';
import { fieldsOf, parametersOf } from './fields.ts';
import { samplesOf } from './samples.ts';

/** One endpoint: what it is for, what it takes and returns, an example in every language, and its errors. */
export function operationPage(endpoint: Endpoint, document: ApiDocument): Html {
  const { method, path, operation } = endpoint;
  const isOptional = operation.tags[0] === 'Optional';
  return html`<h1>${operation.summary}</h1>
<p class="endpoint"><span class="method ${method.toLowerCase()}">${method}</span> <code>${path}</code>${isOptional && html` <span class="label">optional</span>`}</p>
${operation.description !== undefined && renderMarkdown(operation.description, '')}
${requestSections(operation, document)}<h2 id="example">Example request</h2>
${codeTabs(samplesOf(endpoint, document), 3)}${responseSection(operation, document)}${errorsSection(operation)}`;
}

const places: [Parameter['in'], title: string][] = [
  ['header', 'Headers'],
  ['path', 'Path parameters'],
  ['query', 'Query parameters'],
];

/** Also of what the service sends to an endpoint of the partner. */
function requestSections({ parameters = [], requestBody }: Operation, document: ApiDocument): Part {
  const content = requestBody?.content['application/json'];
  return [
    ...places.map(([place, title]) => {
      const those = parameters.filter(one => one.in === place);
      return those.length > 0 && html`<h2 id="${place}">${title}</h2>\n${parametersOf(those, document)}`;
    }),
    content && html`<h2 id="body">Body</h2>\n${fieldsOf(content.schema, document, 'request')}`,
  ];
}

function responseSection({ responses }: Operation, document: ApiDocument): Part {
  const { content = {}, description = '' } = responses['200'] ?? {};
  const others = Object.entries(responses).filter(([status]) => /^3/.test(status));
  // What the generator of the document writes where there is nothing to say.
  const isSaid = description !== 'Default Response';
  return html`<h2 id="response">Response</h2>
<p>Status 200${isSaid && html`: ${renderInline(description)}`}. Fields may be added: ignore those that you do not know.</p>
${Object.entries(content).map(([type, one]) => contentOf(type, one, document))}${others.map(
  ([status, { description }]) => html`<p>Status ${status}: ${renderInline(description)}.</p>\n`,
)}`;
}

function contentOf(type: string, content: Content, document: ApiDocument): Part {
  if (type !== 'application/json')
    return html`<p><code>${type}</code>: ${renderInline(content.schema.description ?? '')}.</p>\n`;
  return [fieldsOf(content.schema, document, 'response'), jsonExamples(content, document)];
}

const jsonExamples = (content: Content, document: ApiDocument) =>
  examplesOf(content, document).map(
    ({ summary, value }) =>
      html`${summary !== undefined && html`<p>${renderInline(summary)}:</p>\n`}${codeBlock({ language: 'json', code: toJson(value) }, 'Example response')}`,
  );

function errorsSection(operation: Operation): Html {
  const rows = errorsOf(operation).map(({ code, status, message }): Part[] => [
    status,
    errorLink(code),
    message,
  ]);
  const noCode = html`<a href="/docs/reference/errors#malformed">no code</a>`;
  const malformed: Part[] = ['422', noCode, 'A field is missing or has the wrong type.'];
  const sorted = [...rows, malformed].sort(([a], [b]) => Number(a) - Number(b));
  return html`<h2 id="errors">Errors</h2>
${wideTable('Errors', ['Status', 'Code', 'Meaning'], sorted)}`;
}

/** One webhook event: what the service sends to the partner's endpoint. */
export function eventPage(event: string, document: ApiDocument): Html {
  const { post } = document.webhooks[event]!;
  const content = post.requestBody!.content['application/json']!;
  return html`<h1><code>${event}</code></h1>
<p class="endpoint"><span class="method post">POST</span> your URL</p>
<p>${post.summary}.</p>
${renderMarkdown(post.description ?? '', '')}
<p>How to set the URL, verify the signature and handle retries is in the guide <a href="/docs/guides/webhooks">Webhooks</a>.</p>
${requestSections(post, document)}<h2 id="example">Example</h2>
${jsonExamples(content, document)}<h2 id="response">Your response</h2>
${Object.entries(post.responses).map(([status, { description }]) => html`<p>${status}: ${description}.</p>\n`)}`;
}
