import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type CallBody, readBody } from './body.ts';
import type { Call, World } from './context.ts';
import { Refusal } from './errors.ts';
import type { Fault, Faults } from './faults.ts';
import { methods } from './methods.ts';
import { isMethod, type MethodName, readParameters } from './parameters.ts';

/** A recorded call and the status of its answer; none if it was not answered. */
export interface RecordedCall {
  method: string;
  values: Record<string, unknown>;
  status: number | undefined;
}

export interface Line {
  token: string;
  world: World;
  faults: Faults;
  calls: RecordedCall[];
  violations: string[];
  latencyMs(): number;
}

/** The HTTP server of the Bot API: finds the method, applies simulated failures, answers. */
export function createApiServer(line: Line): Server {
  return createServer((request, response) => {
    serve(line, request, response).catch(error => {
      if (error instanceof Refusal) return refuse(response, error);
      // The client disconnected while sending.
      if (request.destroyed && !request.complete) return response.destroy();
      line.violations.push(`the stand-in failed: ${error.stack}`);
      return refuse(response, new Refusal(500, 'Internal Server Error'));
    });
  });
}

async function serve(line: Line, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [, isFile, token, rest] = /^(\/file)?\/bot([^/]+)\/([^?]+)/.exec(request.url!) ?? [];
  if (token === undefined) throw new Refusal(404, 'Not Found');
  if (token !== line.token) throw new Refusal(401, 'Unauthorized');
  if (isFile) return sendFile(line.world, rest!, response);
  const recorded: RecordedCall = { method: rest!, values: {}, status: undefined };
  line.calls.push(recorded);
  try {
    await serveCall(line, recorded, request, response);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    recorded.status = error.code;
    if (error.isViolation)
      line.violations.push(`${rest}: ${error.message} ${JSON.stringify(recorded.values)}`);
    throw error;
  }
}

async function serveCall(
  line: Line,
  recorded: RecordedCall,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { method } = recorded;
  if (!isMethod(method)) throw new Refusal(404, 'Not Found', { isViolation: true });
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  const body = await readBody(request);
  recorded.values = body.values;
  await sleep(line.latencyMs());
  const fault = line.faults.take(method, body.values);
  if (fault && fault.kind !== 'answerLost') return misbehave(fault, recorded, response);
  const result = await run(line.world, method, body, gone.signal);
  if (fault) return void response.destroy();
  recorded.status = 200;
  answer(response, 200, { ok: true, result });
}

function run(world: World, method: MethodName, body: CallBody, gone: AbortSignal): unknown {
  // The table pairs every method with its own parameters, which the type of an index by a union does not show.
  const carryOut = methods[method] as (call: Call, parameters: unknown) => unknown;
  return carryOut({ world, uploads: body.uploads, gone }, readParameters(method, body));
}

function misbehave(
  fault: Exclude<Fault, { kind: 'answerLost' }>,
  recorded: RecordedCall,
  response: ServerResponse,
) {
  switch (fault.kind) {
    case 'tooManyRequests': {
      const { retryAfter } = fault;
      throw new Refusal(429, `Too Many Requests: retry after ${retryAfter}`, { retryAfter });
    }
    case 'serverError': {
      recorded.status = fault.status;
      const page = `<html><body><h1>${fault.status} ${STATUS_CODES[fault.status]}</h1><hr>nginx</body></html>`;
      return void response.writeHead(fault.status, { 'content-type': 'text/html' }).end(page);
    }
    case 'disconnect':
      return void response.destroy();
    case 'hang':
      return;
  }
}

function sendFile(world: World, path: string, response: ServerResponse): void {
  const file = world.files.byPath(path);
  if (!file) throw new Refusal(404, 'Not Found');
  response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(file.bytes);
}

function refuse(response: ServerResponse, { code, message, parameters }: Refusal): void {
  answer(response, code, {
    ok: false,
    error_code: code,
    description: message,
    ...(parameters && { parameters }),
  });
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
