import { html, type Part } from '../html.ts';
import { type Edition, type Endpoint, exampleOf, examplesOf, type Parameter, toJson } from './document.ts';

/**
 * A request from the page itself, with a test key. `assets/try.js` shows it and sends: without scripts there is none. The key is in no
 * form that the browser would submit or remember, and the page keeps it in memory only.
 */
export function tryIt({ method, path, operation }: Endpoint, edition: Edition): Part {
  const { title, says, key, body, send, answer, ...notes } = edition.texts.tryIt;
  const { parameters = [], requestBody } = operation;
  const content = requestBody?.content['application/json'];
  const example = content && toJson(examplesOf(content, edition.document)[0].value);
  return html`<section class="try" hidden data-method="${method}" data-path="${path}" data-live="${notes.live}" data-no-key="${notes.noKey}" data-missing="${notes.missing}" data-sending="${notes.sending}" data-answered="${notes.answered}" data-failed="${notes.failed}">
<h3>${title}</h3>
<p>${says}</p>
<label>${key} <input class="key" type="text" placeholder="svc_test_…" autocomplete="off" autocapitalize="off" spellcheck="false"></label>
${parameters.map(one => parameterField(one, edition))}${example !== undefined && html`<label>${body} <textarea rows="${Math.min(14, example.split('\n').length)}" spellcheck="false" autocomplete="off">${example}</textarea></label>\n`}<button type="button" class="send">${send}</button>
<p role="status"></p>
<div class="code json" hidden><pre tabindex="0" role="group" aria-label="${answer}"><code></code></pre></div>
</section>
`;
}

/** Each idempotency key of the page is a new one; everything else shows its example. */
function parameterField({ name, in: place, required, schema, example }: Parameter, edition: Edition): Part {
  const isKey = name === 'Idempotency-Key';
  const shown = isKey ? edition.texts.tryIt.newKey : String(example ?? exampleOf(schema, edition.document));
  const isNeeded = !isKey && required === true && schema.default === undefined;
  return html`<label><code>${name}</code>${isNeeded && ' *'} <input type="text" name="${name}" data-in="${place}"${isNeeded && html` data-needed`} placeholder="${shown}" autocomplete="off" autocapitalize="off" spellcheck="false"></label>
`;
}
