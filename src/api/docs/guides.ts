import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { sendError } from '../http/errors.ts';
import { pageHeaders } from '../http/page-headers.ts';
import { createStaticFile, type StaticFile, sendStaticFile, staticMethods } from '../http/static-file.ts';
import type { Page } from './markdown.ts';

const folder = join(import.meta.dirname, '..', '..', '..', 'docs', 'guides');

/** Text and one style sheet: no scripts, and nothing from other hosts. */
const headers = pageHeaders(["style-src 'self'", 'img-src data:']);

const style = `
:root { color-scheme: light dark; --text: light-dark(#1b1f24, #e3e6ea); --ground: light-dark(#fff, #14171b);
  --soft: light-dark(#f3f5f7, #1f242a); --line: light-dark(#d5dae0, #3a414a); --link: light-dark(#0b57c2, #7fb4ff); }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem 1.25rem 4rem; max-width: 54rem; color: var(--text); background: var(--ground);
  font: 1rem/1.6 system-ui, sans-serif; overflow-wrap: break-word; }
nav { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; padding-bottom: .75rem; border-bottom: 1px solid var(--line); }
h1, h2, h3 { line-height: 1.25; margin: 2rem 0 .75rem; }
h1 { font-size: 1.75rem; margin-top: 1.5rem; } h2 { font-size: 1.3rem; } h3 { font-size: 1.05rem; }
a { color: var(--link); }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
code { font: .875em/1.5 ui-monospace, monospace; background: var(--soft); padding: .1em .3em; border-radius: 4px; }
pre { background: var(--soft); border: 1px solid var(--line); border-radius: 6px; padding: .75rem 1rem; overflow-x: auto; }
pre code { padding: 0; background: none; }
pre.text { background: none; border-style: dashed; white-space: pre-wrap; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; }
th, td { border: 1px solid var(--line); padding: .35rem .6rem; text-align: left; vertical-align: top; }
blockquote { margin: 1rem 0; padding: .1rem 1rem; border-left: 3px solid var(--line); background: var(--soft); }
`;

const pageOf = ({ title, html }: Page) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Kopeck</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/guides/style.css">
</head>
<body>
<nav aria-label="Documentation"><a href="/docs/guides/">All guides</a><a href="/docs/">API reference</a></nav>
<main>
${html}
</main>
</body>
</html>
`;

/** Rendered on the first request: most processes are never asked for a guide, and loading the renderer takes time. */
async function renderGuides(): Promise<Map<string, StaticFile>> {
  const { renderMarkdown } = await import('./markdown.ts');
  const names = readdirSync(folder).filter(name => name.endsWith('.md'));
  return new Map(
    names.map(name => [
      name.replace(/^README\.md$|\.md$/, ''),
      createStaticFile(
        'text/html; charset=utf-8',
        pageOf(renderMarkdown(readFileSync(join(folder, name), 'utf8'))),
      ),
    ]),
  );
}

/** The guides of `docs/guides` as pages; `README.md` is the first of them. */
export function guideRoutes(server: FastifyInstance): void {
  let pages: Promise<Map<string, StaticFile>> | undefined;
  const styleSheet = createStaticFile('text/css; charset=utf-8', style);
  const schema = { hide: true };
  const method = staticMethods;
  const send = (request: FastifyRequest, reply: FastifyReply, file: StaticFile) =>
    sendStaticFile(request, reply.headers(headers), file);

  server.get('/docs/guides', { schema }, (_request, reply) => reply.redirect('/docs/guides/', 308));
  server.route({
    method,
    url: '/docs/guides/style.css',
    schema,
    handler: (request, reply) => send(request, reply, styleSheet),
  });
  server.route<{ Params: { name: string } }>({
    method,
    url: '/docs/guides/:name',
    schema,
    handler: async (request, reply) => {
      pages ??= renderGuides();
      const page = (await pages).get(request.params.name);
      return page === undefined ? sendError(request, reply, 'not_found') : send(request, reply, page);
    },
  });
}
