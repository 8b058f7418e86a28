import { codeBlock, codeTabs, wideTable } from '../code-block.ts';
import { type Html, html, type Part } from '../html.ts';
import { renderInline, renderMarkdown } from '../markdown.ts';
import {
  type Content,
  type Edition,
  type Endpoint,
  errorsOf,
  examplesOf,
  nothingSaid,
  type Operation,
  type Parameter,
  toJson,
} from './document.ts';
import { errorLink } from './errors-page.ts';
import { type Direction, fieldsOf, parametersOf } from './fields.ts';
import { samplesOf } from './samples.ts';
import { tryIt } from './try-it.ts';

/** One endpoint: what it is for, what it takes and returns, an example in every language, and its errors. */
export function operationPage(endpoint: Endpoint, edition: Edition): Html {
  const { method, path, operation } = endpoint;
  const { document, texts } = edition;
  const { optional, exampleRequest } = texts.reference;
  const isOptional = operation.tags[0] === 'Optional';
  const request = html`<h1>${operation.summary}</h1>
<p class="endpoint"><span class="method ${method.toLowerCase()}">${method}</span> <code>${path}</code>${isOptional && html` <span class="label">${optional}</span>`}</p>
${operation.description !== undefined && renderMarkdown(operation.description, '', texts)}
${requestSections(operation, edition, 'request')}`;
  const sample = html`<h2 id="example">${exampleRequest}</h2>
${codeTabs(samplesOf(endpoint, document), 3)}${tryIt(endpoint, edition)}`;
  return html`${sideBySide(request, sample)}${responseSection(operation, edition)}${errorsSection(operation, edition)}`;
}

/** What belongs together; on a wide screen the code is on the right. */
const sideBySide = (text: Html, code: Html) => html`<div class="pair"><div>
${text}</div>
<div class="side">
${code}</div></div>
`;

const places: Parameter['in'][] = ['header', 'path', 'query'];

/** Also of what the service sends to an endpoint of the partner, which is read as a response is. */
function requestSections(
  { parameters = [], requestBody }: Operation,
  edition: Edition,
  direction: Direction,
): Part {
  const { places: titles, body } = edition.texts.reference;
  const content = requestBody?.content['application/json'];
  return [
    ...places.map(place => {
      const those = parameters.filter(one => one.in === place);
      return (
        those.length > 0 &&
        html`<h2 id="${place}">${titles[place]}</h2>\n${parametersOf(those, edition, direction)}`
      );
    }),
    content && html`<h2 id="body">${body}</h2>\n${fieldsOf(content.schema, edition, direction)}`,
  ];
}

function responseSection({ responses }: Operation, edition: Edition): Part {
  const { response, status, mayGrow } = edition.texts.reference;
  const { content = {}, description = '' } = responses['200'] ?? {};
  const others = Object.entries(responses).filter(([code]) => /^3/.test(code));
  const isSaid = description !== nothingSaid;
  const text = html`<h2 id="response">${response}</h2>
<p>${status} 200${isSaid && html`: ${renderInline(description)}`}. ${mayGrow}</p>
${Object.entries(content).map(([type, one]) => contentOf(type, one, edition))}${others.map(
  ([code, { description }]) => html`<p>${status} ${code}: ${renderInline(description)}.</p>\n`,
)}`;
  const json = content['application/json'];
  return json ? sideBySide(text, html`${jsonExamples(json, edition)}`) : text;
}

const contentOf = (type: string, { schema }: Content, edition: Edition): Html =>
  type === 'application/json'
    ? fieldsOf(schema, edition, 'response')
    : html`<p><code>${type}</code>: ${renderInline(schema.description ?? '')}.</p>\n`;

const jsonExamples = (content: Content, { document, texts }: Edition) =>
  examplesOf(content, document).map(
    ({ summary, value }) =>
      html`${summary !== undefined && html`<p>${renderInline(summary)}:</p>\n`}${codeBlock({ language: 'json', code: toJson(value) }, texts.reference.exampleResponse)}`,
  );

function errorsSection(operation: Operation, { texts }: Edition): Html {
  const { status: statusHeader, code: codeHeader, meaning, noCode, malformed } = texts.reference;
  const rows = errorsOf(operation).map(({ code, status, message }): Part[] => [
    status,
    errorLink(code),
    message,
  ]);
  const link = html`<a href="/docs/reference/errors#malformed">${noCode}</a>`;
  const sorted = [...rows, ['422', link, malformed]].sort(([a], [b]) => Number(a) - Number(b));
  const { title } = texts.errors;
  return html`<h2 id="errors">${title}</h2>
${wideTable(title, [statusHeader, codeHeader, meaning], sorted)}`;
}

/** One webhook event: what the service sends to the partner's endpoint. */
export function eventPage(event: string, edition: Edition): Html {
  const { post } = edition.document.webhooks[event]!;
  const { yourUrl, howToReceive, example, yourResponse } = edition.texts.reference;
  const content = post.requestBody!.content['application/json']!;
  const request = html`<h1><code>${event}</code></h1>
<p class="endpoint"><span class="method post">POST</span> ${yourUrl}</p>
<p>${post.summary}.</p>
${renderMarkdown(post.description ?? '', '', edition.texts)}
<p>${howToReceive}</p>
${requestSections(post, edition, 'response')}`;
  const sample = html`<h2 id="example">${example}</h2>
${jsonExamples(content, edition)}`;
  return html`${sideBySide(request, sample)}<h2 id="response">${yourResponse}</h2>
${Object.entries(post.responses).map(([status, { description }]) => html`<p>${status}: ${description}.</p>\n`)}`;
}
