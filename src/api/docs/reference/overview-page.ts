import { wideTable } from '../code-block.ts';
import { type Html, html, type Part } from '../html.ts';
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
  const rows = [...own.map(endpointRow), ...events.map(([event, { post }]) => eventRow(event, post.summary))];
  return html`<h2 id="${name.toLowerCase()}">${name}</h2>
${renderMarkdown(description, '')}
${wideTable('Operations', ['Operation', 'What it is for'], rows)}`;
})}`;
}

const endpointRow = ({ method, path, operation }: Endpoint): Part[] => [
  html`<a href="${operationPath(operation)}" data-operation="${method} ${path}"><code>${method} ${path}</code></a>`,
  operation.summary,
];

const eventRow = (event: string, summary: string): Part[] => [
  html`<a href="${eventPath(event)}"><code>${event}</code></a>`,
  summary,
];
