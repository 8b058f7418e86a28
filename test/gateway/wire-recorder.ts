import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterFile } from '../helpers/after-file.ts';
import type { Exchange } from './wire-document.ts';

async function readAll(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/** Passes requests on to a gateway and keeps each with its answer. */
export async function startRecorder(target: string): Promise<{ url: string; exchanges: Exchange[] }> {
  const exchanges: Exchange[] = [];
  const server = createServer(async (request, response) => {
    const { method = '', url = '', headers } = request;
    const requestBody = await readAll(request);
    const answer = await fetch(`${target}${url}`, {
      method,
      headers: headers.authorization ? { authorization: headers.authorization } : {},
      body: requestBody === '' ? null : requestBody,
    });
    const responseBody = await answer.text();
    const contentType = answer.headers.get('content-type') ?? '';
    exchanges.push({ method, url, headers, requestBody, status: answer.status, contentType, responseBody });
    response.writeHead(answer.status, { 'content-type': contentType }).end(responseBody);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  afterFile(async () => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, exchanges };
}
