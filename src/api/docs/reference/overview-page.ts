import { wideTable } from '../code-block.ts';
import { type Html, html, type Part } from '../html.ts';
import { renderMarkdown } from '../markdown.ts';
import { type Edition, type Endpoint, endpointsOf, eventPath, operationPath } from './document.ts';

/** What all endpoints have in common, and all of them in one list. */
export function overviewPage({ document, texts }: Edition): Html {
  const { title: heading, version, operations, operation: head, purpose } = texts.reference;
  const { info, tags, webhooks } = document;
  const endpoints = endpointsOf(document);
  return html`<h1>${heading}</h1>
<p>${version(info.version)}</p>
${renderMarkdown(info.description, '', texts)}
${tags.map(({ name, title = name, description }) => {
  const own = endpoints.filter(({ operation }) => operation.tags[0] === name);
  const events = name === 'Webhooks' ? Object.entries(webhooks) : [];
  const rows = [...own.map(endpointRow), ...events.map(([event, { post }]) => eventRow(event, post.summary))];
  return html`<h2 id="${name.toLowerCase()}">${title}</h2>
${renderMarkdown(description, '', texts)}
${wideTable(operations, [head, purpose], rows)}`;
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
