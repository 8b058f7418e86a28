import type { AnySession, Refusal } from '../../src/web/shapes.ts';

/** The server refused, or could not be reached. `code` selects the text. */
export class Refused extends Error {
  readonly code: string;
  readonly status: number;
  readonly requestId: string | null;
  /** From the header Retry-After. */
  retryAfterSec = 0;

  constructor(code: string, status: number, message: string, requestId: string | null = null) {
    super(message);
    this.code = code;
    this.status = status;
    this.requestId = requestId;
  }
}

/** `/console` or `/portal`: the base of the build. */
export const appPath = import.meta.env.BASE_URL.slice(0, -1);

type Listener = () => void;

/** A value outside React, for `useSyncExternalStore`. */
export function outside<T>(value: T) {
  const listeners = new Set<Listener>();
  return {
    get: () => value,
    set(next: T) {
      if (next === value) return;
      value = next;
      for (const listener of listeners) listener();
    },
    subscribe(listener: Listener) {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
  };
}

/** False while the server does not answer. */
export const connected = outside(true);

/** Undefined until the server has answered, null when nobody is signed in. */
export const session = outside<AnySession | null | undefined>(undefined);

/** Whether the session ended by itself, and not because somebody signed out. */
let wasSignedIn = false;
session.subscribe(() => {
  if (session.get()) wasSignedIn = true;
});
export const hasSessionEnded = () => wasSignedIn;

/** The page drops the session at once and sends no more requests that would be refused. */
export async function signOut(): Promise<void> {
  const sent = send('/logout');
  wasSignedIn = false;
  session.set(null);
  await sent.catch(() => undefined);
}

/** When the reader last did something. Polling alone must not keep a session alive. */
let touchedAtMs = Date.now();
for (const kind of ['pointerdown', 'keydown', 'wheel'] as const) {
  document.addEventListener(
    kind,
    () => {
      touchedAtMs = Date.now();
    },
    { passive: true, capture: true },
  );
}
const isIdle = () => Date.now() - touchedAtMs > 60_000;

/** GET. `path` begins after the base. */
export const ask = <T>(path: string, signal?: AbortSignal): Promise<T> =>
  call<T>(path, { method: 'GET', headers: isIdle() ? { 'X-Background': '1' } : {}, signal: signal ?? null });

/** POST. */
export const send = <T = unknown>(path: string, body: object = {}): Promise<T> =>
  post<T>(path, 'application/json', JSON.stringify(body));

/** POST of a file. */
export const sendFile = <T>(path: string, file: Blob): Promise<T> => post<T>(path, file.type, file);

const post = <T>(path: string, type: string, body: BodyInit): Promise<T> =>
  call<T>(path, {
    method: 'POST',
    headers: { 'Content-Type': type, 'X-CSRF-Token': session.get()?.csrf_token ?? '' },
    body,
  });

/** `?a=1&b=2`, without empty values. */
export function query(values: Record<string, string | number | boolean | null | undefined>): string {
  const given = Object.entries(values).filter(
    ([, value]) => value !== undefined && value !== null && value !== '',
  );
  return given.length ? `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}` : '';
}

/** Downloads a file under the name that the server gives it. */
export async function askFile(path: string): Promise<{ name: string; content: Blob }> {
  const { response, body } = await reach(path, { method: 'GET' });
  const name = /filename="?([^";]+)"?/.exec(response.headers.get('content-disposition') ?? '')?.[1];
  return { name: name ?? 'kopeck', content: body };
}

async function call<T>(path: string, init: RequestInit): Promise<T> {
  const { body } = await reach(path, init);
  return parse(await body.text()) as T;
}

async function reach(path: string, init: RequestInit): Promise<{ response: Response; body: Blob }> {
  let response: Response;
  let body: Blob;
  try {
    response = await fetch(`${appPath}/api${path}`, {
      ...init,
      credentials: 'same-origin',
      cache: 'no-store',
    });
    body = await response.blob();
  } catch (error) {
    throw init.signal?.aborted ? error : unreached(init, 0);
  }
  if (response.ok) {
    connected.set(true);
    return { response, body };
  }
  // A proxy answers for a service that is down.
  const answer = parse(await body.text());
  if (answer === undefined && response.status >= 500) throw unreached(init, response.status);
  connected.set(true);
  const refusal = (answer as Partial<Refusal> | undefined)?.error;
  const code = refusal?.code ?? (response.status === 422 ? 'invalid_request' : 'internal_error');
  if (response.status === 401 && code === 'signed_out') session.set(null);
  const refused = new Refused(
    code,
    response.status,
    refusal?.message ?? detailOf(answer),
    refusal?.request_id ?? null,
  );
  refused.retryAfterSec = Number(response.headers.get('Retry-After') ?? 0);
  throw refused;
}

/** Of a change it is unknown whether it was made. */
function unreached({ method }: RequestInit, status: number): Refused {
  connected.set(false);
  return new Refused(method === 'GET' ? 'no_connection' : 'no_answer', status, 'no connection');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Validation errors (422) have the form `{detail: [{loc, msg}]}`. */
function detailOf(answer: unknown): string {
  const detail = (answer as { detail?: { loc?: unknown[]; msg?: string }[] } | undefined)?.detail;
  if (!Array.isArray(detail)) return '';
  return detail.map(one => `${one.loc?.slice(1).join('.') ?? ''}: ${one.msg ?? ''}`).join('; ');
}
