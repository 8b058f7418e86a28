import type { Clock } from '../../base/clock.ts';
import { AnswerTooLongError, callHttp, headerOf } from '../../http-client/index.ts';
import { type Answer, readObject } from '../answers.ts';
import { describeError } from '../transport.ts';

/** As long as the service waits. */
export interface CheckTimeouts {
  payMs: number;
  /** The limit of all other calls. */
  otherMs: number;
}

export interface CheckRequest {
  method: 'GET' | 'PUT' | 'POST';
  path: string;
  /** A text is sent as it is. */
  body?: object | string;
  /** Instead of the right one; null: none. */
  token?: string | null;
}

/** An answer, or why there is none: then the status is 0. */
export interface Reply extends Answer {
  error: string | null;
}

/** What was noticed about all answers to valid calls, for the checks at the end. */
interface Observed {
  request: string;
  isPay: boolean;
  durationMs: number;
  contentType: string;
  status: number;
}

const maxAnswerBytes = 3 * 1024 * 1024;

export type CheckClient = ReturnType<typeof createCheckClient>;

/** Unlike the client of the service it also sends what is wrong, and looks at headers and times. */
export function createCheckClient(options: {
  url: string;
  token: string | undefined;
  timeouts: CheckTimeouts;
  clock: Clock;
}) {
  const { url, token: ownToken, timeouts, clock } = options;
  const base = url.replace(/\/$/, '');
  const observed: Observed[] = [];

  async function send({ method, path, body, token }: CheckRequest): Promise<Reply> {
    const bearer = token === undefined ? ownToken : token;
    const startedMs = clock.monotonicMs();
    const note = (status: number, contentType: string) => {
      const durationMs = Math.round(clock.monotonicMs() - startedMs);
      const request = `${method} ${path.split('?', 1)[0]!.replace(/^\/orders\/[^/]+/, '/orders/…')}`;
      if (token === undefined)
        observed.push({ request, isPay: method === 'PUT', durationMs, contentType, status });
    };
    try {
      const answer = await callHttp({
        url: `${base}${path}`,
        method,
        headers: {
          ...(bearer ? { authorization: `Bearer ${bearer}` } : {}),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
        clock,
        timeoutMs: method === 'PUT' ? timeouts.payMs : timeouts.otherMs,
        maxBytes: maxAnswerBytes,
      });
      const text = answer.body.toString();
      note(answer.status, headerOf(answer, 'content-type') ?? '');
      return { status: answer.status, body: readObject(text), text, error: null };
    } catch (error) {
      note(0, '');
      return { status: 0, body: undefined, text: '', error: whyNoAnswer(error) };
    }
  }
  return { send, observed, timeouts, hasToken: ownToken !== undefined };
}

function whyNoAnswer(error: unknown): string {
  if (error instanceof AnswerTooLongError) return 'an answer of more than 3 MiB';
  const why = describeError(error);
  return why === 'TimeoutError' ? 'no answer in time' : `no answer (${why})`;
}

export const resolveCode = ({ send }: CheckClient, link: string | undefined) =>
  send({ method: 'POST', path: '/qr/resolve', body: { qr_url: link } });

/** For people: the status and the code, never the whole answer. */
export const describeReply = ({ status, body, error }: Reply): string => {
  if (error !== null) return error;
  const code = typeof body?.code === 'string' ? ` ${body.code.slice(0, 60)}` : '';
  const state = typeof body?.state === 'string' ? ` with state ${body.state.slice(0, 60)}` : '';
  return `${status}${code}${state}${body ? '' : ' without a JSON object'}`;
};
