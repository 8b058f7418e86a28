import { randomUUID } from 'node:crypto';
import type { Plan, Target } from './plan.ts';

/** Builds requests, with everything that does not vary prepared in advance. */
export function createRequests({ targets, work }: Plan): () => string {
  const makers = targets.map(work === 'pay' ? payments : reads);
  return () => makers[Math.floor(Math.random() * makers.length)]!();
}

const authorization = ({ key }: Target) => (key ? `authorization: Bearer ${key}\r\n` : '');

function reads(target: Target): () => string {
  const request = `GET ${target.path} HTTP/1.1\r\nhost: kopeck\r\n${authorization(target)}\r\n`;
  return () => request;
}

/** 10.00 RUB: zero kopecks means success in test mode. */
const bodyOf = (code: string) => `{"qr_url":"https://qr.nspk.ru/AD${code}?type=02&sum=1000&cur=RUB"}`;

/** Keys and codes are random, like those of partners, so index inserts go to random pages. */
const newCode = () => randomUUID().replaceAll('-', '').toUpperCase().slice(0, 30);

function payments(target: Target): () => string {
  const head = [
    `POST ${target.path} HTTP/1.1`,
    'host: kopeck',
    'content-type: application/json',
    `content-length: ${bodyOf(newCode()).length}`,
    `${authorization(target)}idempotency-key: `,
  ].join('\r\n');
  return () => `${head}${randomUUID()}\r\n\r\n${bodyOf(newCode())}`;
}

/** Undefined for the expected answer, else its status and code. A payment must have succeeded, not only be accepted. */
export function unexpectedAnswer(work: Plan['work'], status: number, body: string): string | undefined {
  if (status === 200 && (work === 'get' || body.includes('"status":"succeeded"'))) return undefined;
  const code = /"(?:code|status)":"(\w+)"/.exec(body)?.[1] ?? 'without a code';
  return `${status} ${code}`;
}
