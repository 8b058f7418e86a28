import { createHash } from 'node:crypto';
import { AwsClient } from 'aws4fetch';
import { systemClock } from '../../../base/clock.ts';
import { callHttp } from '../../../http-client/index.ts';
import type { Bucket } from './bucket.ts';
import { errorCodeOf, explainAnswer, explainFailure, type S3Answer } from './s3-answers.ts';

export interface S3Request {
  method: 'GET' | 'PUT' | 'POST' | 'DELETE';
  /** Undefined for the bucket itself. */
  key?: string;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  body?: Buffer;
  /** Codes of refusals that the caller deals with. */
  expected?: string[];
}

export type S3Client = (request: S3Request) => Promise<S3Answer>;

/** No request has more than one part of a file, so this is enough for 1 Mbit/s. */
const timeLimitMs = 90_000;
/** Twice as much as a part; a list of keys has less. */
const maxAnswerBytes = 16 * 1024 * 1024;
const firstPauseMs = 250;

/** Requests are signed, repeated a few times if the server or the network fails, and explained in one line if refused. */
export function createS3Client(bucket: Bucket, { maxAttempts = 4 } = {}): S3Client {
  const aws = new AwsClient({ ...bucket.credentials, service: 's3', region: bucket.region });

  async function attempt({ method, key, query = {}, headers = {}, body }: S3Request): Promise<S3Answer> {
    const path = key === undefined ? '' : `/${key.split('/').map(encode).join('/')}`;
    const parameters = Object.entries(query).map(([name, value]) => `${name}=${encode(value)}`);
    const url = `${bucket.url}${path}?${parameters.join('&')}`;
    const signed = await aws.sign(url, {
      method,
      // The server compares what it got with this sum.
      headers: {
        ...headers,
        'x-amz-content-sha256': createHash('sha256')
          .update(body ?? '')
          .digest('hex'),
      },
      ...(body === undefined ? {} : { body: new Uint8Array(body) }),
    });
    return callHttp({
      clock: systemClock,
      url: signed.url,
      method,
      headers: Object.fromEntries(signed.headers),
      body: body ?? null,
      timeoutMs: timeLimitMs,
      maxBytes: maxAnswerBytes,
    });
  }

  return async request => {
    for (let attempts = 1; ; attempts++) {
      const answer = await attempt(request).catch((error: unknown) => {
        if (attempts === maxAttempts) throw explainFailure(bucket, error);
        return undefined;
      });
      if (answer && (attempts === maxAttempts || !isTemporary(answer))) return checked(answer, request);
      await systemClock.sleep(firstPauseMs * 4 ** (attempts - 1) * (0.5 + Math.random()));
    }
  };

  function checked(answer: S3Answer, { method, expected = [] }: S3Request): S3Answer {
    // The end of an upload in parts may fail after the server has begun to answer with 200.
    const hasFailedLate = method === 'POST' && answer.body.includes('<Error>');
    if (answer.status < 300 && !hasFailedLate) return answer;
    if (expected.includes(errorCodeOf(answer) ?? '')) return answer;
    throw explainAnswer(bucket, answer);
  }
}

const isTemporary = ({ status }: S3Answer) =>
  (status >= 500 && status !== 501) || status === 429 || status === 408 || status === 409;

/** As the signature has it: also what `encodeURIComponent` leaves. */
const encode = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, each => `%${each.charCodeAt(0).toString(16).toUpperCase()}`);
