/** Webhook receivers: /ok answers at once and records the delay of each event, /hang never answers. */
import { createServer } from 'node:http';

let delaysMs: number[] = [];
let firstAt = 0;
let lastAt = 0;

const server = createServer((request, response) => {
  if (request.url!.startsWith('/stats')) {
    const sorted = delaysMs.toSorted((a, b) => a - b);
    const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
    response.end(
      JSON.stringify({ count: sorted.length, spanMs: lastAt - firstAt, medianMs: at(0.5), p99Ms: at(0.99) }),
    );
    if (request.url !== '/stats?fresh') return;
    delaysMs = [];
    firstAt = 0;
    return;
  }
  let body = '';
  request.setEncoding('utf8').on('data', chunk => (body += chunk));
  request.on('end', () => {
    if (request.url!.startsWith('/hang')) return;
    lastAt = Date.now();
    firstAt ||= lastAt;
    delaysMs.push(lastAt - Date.parse(/"created_at":"([^"]+)"/.exec(body)?.[1] ?? ''));
    response.end();
  });
});
// Longer than any pause of the bench, so that no request uses a connection that is just being closed.
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as { port: number };
  console.log(`ready at http://127.0.0.1:${port}`);
});
