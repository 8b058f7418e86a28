import { type Html, html } from '../html.ts';
import { renderMarkdown } from '../markdown.ts';
import { type ApiDocument, type Endpoint, endpointsOf, eventPath, operationPath } from './document.ts';

/** What all endpoints have in common, and all of them in one list. */
export function overviewPage(document: ApiDocument): Html {
  const { info, tags, webhooks } = document;
  const endpoints = endpointsOf(document);
  return html`<h1>API reference</h1>
<p>Version ${info.version}. The same as an OpenAPI document: <a href="/openapi.json">/openapi.json</a>.</p>
${renderMarkdown(info.description, '')}
${tags.map(({ name, description }) => {
  const own = endpoints.filter(({ operation }) => operation.tags[0] === name);
  const events = name === 'Webhooks' ? Object.entries(webhooks) : [];
  return html`<h2 id="${name.toLowerCase()}">${name}</h2>
${renderMarkdown(description, '')}
${tableOf([...own.map(endpointRow), ...events.map(([event, { post }]) => eventRow(event, post.summary))])}`;
})}`;
}

const tableOf = (
  rows: Html[],
) => html`<div class="wide" tabindex="0" role="group" aria-label="Operations"><table>
<thead><tr><th scope="col">Operation</th><th scope="col">What it is for</th></tr></thead>
<tbody>
${rows}</tbody>
</table></div>
`;

const endpointRow = ({
  method,
  path,
  operation,
}: Endpoint) => html`<tr><td><a href="${operationPath(operation)}" data-operation="${method} ${path}"><code>${method} ${path}</code></a></td><td>${operation.summary}</td></tr>
`;

const eventRow = (
  event: string,
  summary: string,
) => html`<tr><td><a href="${eventPath(event)}"><code>${event}</code></a></td><td>${summary}</td></tr>
`;
