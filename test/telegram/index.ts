import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createChats } from './chats.ts';
import { Refusal, violation } from './errors.ts';
import { createMethods, type World } from './methods.ts';
import { isMethod, readParameters } from './parameters.ts';
import { createUpdates } from './updates.ts';
import { createFakeUsers } from './user.ts';

export { dialogueToSvg } from './svg.ts';

/** A recorded call and the status of its answer; none if it was not answered. */
export interface RecordedCall {
  method: string;
  values: Record<string, unknown>;
  status: number | undefined;
}

/** A simulated failure instead of an answer. */
export type Fault =
  | { kind: 'tooManyRequests'; retryAfter: number }
  /** An HTML page of a proxy, not JSON. */
  | { kind: 'serverError'; status: 500 | 502 }
  /** No answer at all, until the caller gives up. */
  | { kind: 'hang' }
  /** The connection breaks before anything is done. */
  | { kind: 'disconnect' };

/** Which calls it affects; without a method all but getUpdates, since a poller would consume it. */
export interface FaultScope {
  times?: number;
  method?: string;
  chatId?: number;
}

interface Line {
  token: string;
  world: World;
  calls: RecordedCall[];
  violations: string[];
  takeFault(method: string, values: Record<string, unknown>): Fault | undefined;
}

function createFaults() {
  let planned: { fault: Fault; scope: FaultScope; left: number }[] = [];
  return {
    fail: (fault: Fault, scope: FaultScope = {}) =>
      void planned.push({ fault, scope, left: scope.times ?? 1 }),
    takeFault: (method: string, { chat_id }: Record<string, unknown>) => {
      const hit = planned.find(
        ({ scope }) =>
          (scope.method === undefined ? method !== 'getUpdates' : scope.method === method) &&
          // In a form every value is text.
          (scope.chatId === undefined || `${scope.chatId}` === `${chat_id}`),
      );
      if (hit && --hit.left === 0) planned = planned.filter(one => one !== hit);
      return hit?.fault;
    },
    clearFaults: () => {
      planned = [];
    },
  };
}

/** The HTTP server of the Bot API: finds the method, applies simulated failures, answers. */
function createApiServer(line: Line): Server {
  const methods = createMethods(line.world);

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, isFile, token, rest = ''] = /^(\/file)?\/bot([^/]+)\/([^?]+)/.exec(request.url!) ?? [];
    if (token === undefined) throw new Refusal(404, 'Not Found');
    if (token !== line.token) throw new Refusal(401, 'Unauthorized');
    const file = isFile && line.world.chats.files.get(rest);
    if (file) return void response.end(file.bytes);
    const recorded: RecordedCall = { method: rest, values: {}, status: undefined };
    line.calls.push(recorded);
    try {
      if (!isMethod(rest)) throw new Refusal(404, 'Not Found', { isViolation: true });
      const gone = new AbortController();
      response.on('close', () => gone.abort());
      const { values, uploads } = await readBody(request);
      recorded.values = values;
      const fault = line.takeFault(rest, values);
      if (fault) return misbehave(fault, recorded, response);
      // The table pairs every method with its own parameters, which the type of an index by a union does not show.
      const method = methods[rest] as (...args: unknown[]) => unknown;
      const result = await method(readParameters(rest, values), { uploads, gone: gone.signal });
      recorded.status = 200;
      response.end(JSON.stringify({ ok: true, result }));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      recorded.status = error.code;
      if (error.isViolation)
        line.violations.push(`${rest}: ${error.message} ${JSON.stringify(recorded.values)}`);
      throw error;
    }
  }

  return createServer((request, response) => {
    serve(request, response).catch(error => {
      // The client disconnected while sending.
      if (request.destroyed && !request.complete) return response.destroy();
      if (!(error instanceof Refusal)) line.violations.push(`the fake failed: ${error.stack}`);
      const { code = 500, message, retryAfter } = error as Refusal;
      const parameters = retryAfter === undefined ? undefined : { retry_after: retryAfter };
      response.writeHead(code, { 'content-type': 'application/json' });
      return response.end(JSON.stringify({ ok: false, error_code: code, description: message, parameters }));
    });
  });
}

function misbehave(fault: Fault, recorded: RecordedCall, response: ServerResponse): void {
  if (fault.kind === 'tooManyRequests') {
    const { retryAfter } = fault;
    throw new Refusal(429, `Too Many Requests: retry after ${retryAfter}`, { retryAfter });
  }
  if (fault.kind === 'disconnect') response.destroy();
  if (fault.kind !== 'serverError') return;
  recorded.status = fault.status;
  response.writeHead(fault.status, { 'content-type': 'text/html' }).end(`<h1>${fault.status}</h1><hr>nginx`);
}

/** The parameters as sent, and the files that they reference as `attach://…`. */
async function readBody(request: IncomingMessage) {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  const uploads = new Map<string, Buffer>();
  const boundary = /^multipart\/form-data;\s*boundary=(.+)$/.exec(request.headers['content-type'] ?? '')?.[1];
  if (boundary === undefined) {
    const values: Record<string, unknown> = body.length === 0 ? {} : JSON.parse(`${body}`);
    return { values, uploads };
  }
  const values: Record<string, unknown> = {};
  for (const part of body.toString('latin1').split(`--${boundary}`).slice(1, -1)) {
    const [head = '', ...rest] = part.split('\r\n\r\n');
    const content = Buffer.from(rest.join('\r\n\r\n').slice(0, -2), 'latin1');
    const name = /;\s*name="([^"]*)"/.exec(head)?.[1];
    if (name === undefined) throw violation('a part of the form has no name');
    if (/;\s*filename=/.test(head)) uploads.set(name, content);
    // In a form all values are text: numbers as such, objects as JSON.
    else values[name] = ['chat_id', 'reply_markup'].includes(name) ? JSON.parse(`${content}`) : `${content}`;
  }
  return { values, uploads };
}

export type Telegram = Awaited<ReturnType<typeof startTelegram>>;

/** A fake Telegram on a free port of this machine: what the bot uses of the Bot API, and users. */
export async function startTelegram() {
  const world = createWorld();
  const { takeFault, ...faults } = createFaults();
  /** Every call that came with the right token, in order. */
  const calls: RecordedCall[] = [];
  /** Invalid calls of the bot; tests assert at the end that there are none. */
  const violations: string[] = [];
  const token = `${world.bot.id}:AA${randomBytes(25).toString('base64url').slice(0, 33)}`;
  const server = createApiServer({ token, world, takeFault, calls, violations });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    /** The address of the API, for TELEGRAM_API_ROOT. */
    root: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token,
    calls,
    violations,
    ...faults,
    ...createFakeUsers(world),
    /** Ids of presses that the bot has not answered so far. */
    unansweredPresses: () => [...world.presses.keys()],
    /** How many updates the bot has not confirmed yet. */
    pendingUpdates: () => world.updates.pending.length,
    close: async () => {
      world.updates.deleteWebhook();
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

const createWorld = (): World => ({
  bot: {
    id: 7_019_283_746,
    is_bot: true,
    first_name: 'Kopeck',
    username: 'kopeck_test_bot',
    can_join_groups: true,
    can_read_all_group_messages: false,
    supports_inline_queries: false,
    can_connect_to_business: false,
    has_main_web_app: false,
    has_topics_enabled: false,
    allows_users_to_create_topics: false,
    can_manage_bots: false,
    supports_join_request_queries: false,
  },
  chats: createChats(),
  updates: createUpdates(),
  presses: new Map(),
});
