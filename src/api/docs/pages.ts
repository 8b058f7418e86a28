import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { homePage } from './home-page.ts';
import { type Html, html, type Part } from './html.ts';
import { findPage, renderMarkdown } from './markdown.ts';
import {
  type ApiDocument,
  type Endpoint,
  endpointsOf,
  eventPath,
  operationPath,
} from './reference/document.ts';
import { errorsPage } from './reference/errors-page.ts';
import { eventPage, operationPage } from './reference/operation-page.ts';
import { overviewPage } from './reference/overview-page.ts';

export interface Page {
  path: string;
  title: string;
  /** What the side bar shows instead of the title. */
  label?: Part;
  /** `POST /v1/payments`, for the page of an endpoint. */
  operation?: string;
  render(): Html;
}

export interface PageGroup {
  name: string;
  pages: Page[];
}

const root = join(import.meta.dirname, '..', '..', '..');

/** All pages in the order in which they are read, as the side bar groups them. */
export async function listPages(document: ApiDocument, botName: string | undefined): Promise<PageGroup[]> {
  return [
    { name: 'Start', pages: [{ path: '/docs/', title: 'Documentation', render: () => homePage(botName) }] },
    { name: 'Guides', pages: await guides() },
    ...referenceGroups(document),
    { name: 'Releases', pages: [await documentPage('docs/reference/api-changelog.md', '/docs/changelog')] },
  ];
}

/** The guides in the order of their list, `docs/guides/README.md`, the client library, and further packages. */
async function guides(): Promise<Page[]> {
  const list = await readFile(join(root, 'docs/guides/README.md'), 'utf8');
  const names = Array.from(list.matchAll(/\]\(([\w-]+)\.md\)/g), ([, name]) => name!);
  return Promise.all([
    documentPage('docs/guides/README.md', '/docs/guides/').then(page => ({ ...page, label: 'All guides' })),
    ...names.map(name => documentPage(`docs/guides/${name}.md`, `/docs/guides/${name}`)),
    documentPage('sdk/README.md', '/docs/library').then(page => ({ ...page, title: 'Client library' })),
    ...['python', 'php', 'cli'].map(name => packagePage(`sdk-${name}/README.md`)),
  ]);
}

/** A further package for partners; its README says for what it is. */
const packagePage = (file: string) => documentPage(file, findPage(file)!);

async function documentPage(file: string, path: string): Promise<Page> {
  const source = await readFile(join(root, file), 'utf8');
  const title = /^# (.*)$/m.exec(source)?.[1] ?? file;
  return { path, title: title.replaceAll('`', ''), render: () => renderMarkdown(source, file) };
}

function referenceGroups(document: ApiDocument): PageGroup[] {
  const endpoints = endpointsOf(document);
  const events = Object.keys(document.webhooks);
  const overview = {
    path: '/docs/reference/',
    title: 'API reference',
    label: 'Overview',
    render: () => overviewPage(document),
  };
  const errors = { path: '/docs/reference/errors', title: 'Errors', render: () => errorsPage(document) };
  return [
    {
      name: 'API reference',
      pages: [overview, ...endpoints.map(endpoint => endpointPage(endpoint, document)), errors],
    },
    {
      name: 'Webhook events',
      pages: events.map(event => ({
        path: eventPath(event),
        title: event,
        render: () => eventPage(event, document),
      })),
    },
  ];
}

function endpointPage(endpoint: Endpoint, document: ApiDocument): Page {
  const { method, path, operation } = endpoint;
  return {
    path: operationPath(operation),
    title: operation.summary,
    label: html`<span class="method ${method.toLowerCase()}">${method}</span> <code>${path}</code>`,
    operation: `${method} ${path}`,
    render: () => operationPage(endpoint, document),
  };
}
