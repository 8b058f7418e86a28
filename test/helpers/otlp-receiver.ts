import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterFile } from './after-file.ts';

export interface ReceivedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: { key: string; value: { stringValue?: string; doubleValue?: number } }[];
  links: { traceId: string; spanId: string }[];
  status: { code?: number; message?: string };
}

/** A collector on its own port: takes traces as OTLP in JSON, and answers as the test wants. */
export async function startOtlpReceiver() {
  const spans: ReceivedSpan[] = [];
  const resources: unknown[] = [];
  let how = (response: ServerResponse) => void response.writeHead(200).end('{}');
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', chunk => (body += chunk));
    request.on('end', () => {
      if (request.url !== '/v1/traces' || request.headers['content-type'] !== 'application/json')
        return void response.writeHead(404).end();
      for (const { resource, scopeSpans } of JSON.parse(body).resourceSpans) {
        resources.push(resource);
        for (const scope of scopeSpans) spans.push(...scope.spans);
      }
      how(response);
    });
  }).listen(0, '127.0.0.1');
  await new Promise(resolve => server.once('listening', resolve));
  const close = async () => {
    server.closeAllConnections();
    server.close();
  };
  afterFile(close);
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    resources,
    close,
    answer: (next: typeof how) => {
      how = next;
    },
  };
}
