import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { startLocalServer } from '../helpers/local-server.ts';

const documentFile = new URL('../../docs/reference/gateway.openapi.json', import.meta.url);
// biome-ignore lint/suspicious/noExplicitAny: a document looked into at a few places
export const document: any = JSON.parse(readFileSync(documentFile, 'utf8'));

/** A request and its answer, as they were on the wire. */
export interface Exchange {
  method: string;
  /** With its query. */
  url: string;
  headers: Record<string, unknown>;
  requestBody: string;
  status: number;
  contentType: string;
  responseBody: string;
}

const ajv = new Ajv2020({ strict: false, allErrors: true });
formats.default(ajv);
ajv.addSchema(document, 'gateway');

const pathPatterns = Object.keys(document.paths).map(path => ({
  path,
  pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '([^/]+)')}$`),
}));

const pointer = (...steps: string[]) =>
  `gateway#/${steps.map(step => step.replaceAll('~', '~0').replaceAll('/', '~1').replaceAll('{', '%7B').replaceAll('}', '%7D')).join('/')}`;

function problemsOf(schemaPointer: string, value: unknown, place: string): string[] {
  const validate = ajv.compile({ $ref: schemaPointer });
  if (validate(value)) return [];
  return (validate.errors ?? []).map(error => `${place}${error.instancePath} ${error.message}`);
}

function read(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** `PUT /orders/{payment_id}`, as the document names it; undefined: it has no such operation. */
export function operationOf({ method, url }: Pick<Exchange, 'method' | 'url'>): string | undefined {
  const { pathname } = new URL(url, 'http://gateway');
  const known = pathPatterns.find(({ pattern }) => pattern.test(pathname));
  return known && document.paths[known.path][method.toLowerCase()] ? `${method} ${known.path}` : undefined;
}

/** Where the request differs from the document. */
export function problemsOfRequest(exchange: Exchange): string[] {
  const operation = operationOf(exchange);
  if (!operation) return [`there is no operation ${exchange.method} ${exchange.url}`];
  const [method, path] = [exchange.method.toLowerCase(), operation.split(' ')[1]!];
  const described = document.paths[path][method];
  const problems: string[] = [];
  if (!/^Bearer \S+$/.test(String(exchange.headers.authorization))) problems.push('no bearer token');
  if (described.requestBody) {
    if (exchange.headers['content-type'] !== 'application/json')
      problems.push('the body is not sent as JSON');
    const schema = pointer('paths', path, method, 'requestBody', 'content', 'application/json', 'schema');
    problems.push(...problemsOf(schema, read(exchange.requestBody), 'body'));
  } else if (exchange.requestBody !== '') problems.push('a body that is not described');
  const { searchParams, pathname } = new URL(exchange.url, 'http://gateway');
  const inPath = pathPatterns
    .find(one => one.path === path)!
    .pattern.exec(pathname)!
    .slice(1);
  for (const value of inPath)
    problems.push(...problemsOf(pointer('components', 'parameters', 'PaymentId', 'schema'), value, 'path'));
  const parameters: { name: string; schema: { type?: string } }[] = described.parameters ?? [];
  for (const [name, written] of searchParams) {
    const index = parameters.findIndex(one => one.name === name);
    const value = parameters[index]?.schema.type === 'integer' ? Number(written) : written;
    if (index < 0) problems.push(`a parameter ${name} that is not described`);
    else
      problems.push(
        ...problemsOf(pointer('paths', path, method, 'parameters', `${index}`, 'schema'), value, name),
      );
  }
  return problems;
}

/** Where the answer differs from the document. */
export function problemsOfAnswer(exchange: Exchange): string[] {
  const operation = operationOf(exchange);
  if (!operation) return [`there is no operation ${exchange.method} ${exchange.url}`];
  const [method, path] = [exchange.method.toLowerCase(), operation.split(' ')[1]!];
  const described = document.paths[path][method].responses[exchange.status];
  if (!described) return [`${operation} does not answer ${exchange.status}`];
  if (!/^application\/json(;|$)/.test(exchange.contentType)) return [`${exchange.contentType} is not JSON`];
  const base = described.$ref
    ? ['components', 'responses', String(described.$ref).split('/').at(-1)!]
    : ['paths', path, method, 'responses', `${exchange.status}`];
  const schema = pointer(...base, 'content', 'application/json', 'schema');
  return problemsOf(schema, read(exchange.responseBody), 'body');
}

/** Passes requests on to a gateway and keeps each with its answer. */
export async function startRecorder(target: string): Promise<{ url: string; exchanges: Exchange[] }> {
  const exchanges: Exchange[] = [];
  const server = await startLocalServer();
  server.answer(async (request, response) => {
    const { method = '', url = '', headers } = request;
    const requestBody = await text(request);
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
  return { url: server.url, exchanges };
}
