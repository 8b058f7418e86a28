import { type Html, html } from '../html.ts';
import { renderMarkdown } from '../markdown.ts';
import type { ApiDocument } from './document.ts';
import { jsonExamples, requestSections } from './operation-page.ts';

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
