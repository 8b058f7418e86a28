import type { Clock } from '../base/clock.ts';
import { type Id, timeOfUuid, uuidFromId } from '../base/ids.ts';
import { createTokenBuckets } from '../base/token-buckets.ts';
import { commitsWithoutWaiting, findRow, type Queryable } from '../db/postgres/index.ts';

/** What a request carried, and what its answer did. Undefined: nothing, or no text. */
export interface Bodies {
  sent: Buffer | undefined;
  answered: string | undefined;
}

/** What is needed here of a request that was answered. */
interface Answered {
  requestId: Id<'req'>;
  keyHolder?: { partnerId: Id<'prt'> } | undefined;
  /** False: no rate limit bounds how many of these there are. */
  isAdmitted: boolean;
  bodies?: Bodies | undefined;
}

/** They hold what partners know of their customers, so they go soon, whatever the retention of the log is. */
export const bodiesKeptDays = 7;
/** What is longer is cut. */
export const maxLoggedBytes = 64 * 1024;

/** Bytes. A developer who tries out an integration stays far below; a partner with much traffic has the first bodies of a minute. */
const ofPartner = { burst: 4 * 1024 ** 2, perSec: 8 * 1024 };
const ofAll = { burst: 8 * 1024 ** 2, perSec: 32 * 1024 };

/** Bounds what bodies take of memory and of the disk. Returns those that are kept. */
export function createBodyBudget(clock: Clock): (request: Answered) => Bodies | undefined {
  const takeOfPartner = createTokenBuckets(clock, ofPartner);
  const takeOfAll = createTokenBuckets(clock, ofAll);
  return ({ keyHolder, isAdmitted, bodies }) => {
    if (!bodies || !keyHolder || !isAdmitted) return undefined;
    const size = sizeOf(bodies.sent) + sizeOf(bodies.answered);
    const isKept =
      takeOfPartner(keyHolder.partnerId, size) === undefined && takeOfAll('', size) === undefined;
    return isKept ? bodies : undefined;
  };
}

const sizeOf = (body: Buffer | string | undefined) => Math.min(body?.length ?? 0, maxLoggedBytes);

/** Keys and webhook secrets, wherever somebody has put them. */
const secrets = /(svc_(?:live|test)_|whsec_)[\w+/=-]+/gi;
/** 48 digits are the secret part of a key, however the rest is written; 64 are the id of a transaction. */
const hexadecimals = /[\da-f]+/gi;
const withoutSecret = (digits: string) => (digits.length < 48 || digits.length === 64 ? digits : '…');
/** The recipient of a payment or of a QR code, also one that the cut left without its end. */
const recipients = /("recipient"\s*:\s*)"(?:[^"\\]|\\.)*(?:"|\\?$)/g;
/** No secret is longer: what a cut leaves of one is among so many letters at the end. */
const longestSecret = 256;

/** As it is stored: without secrets and names of recipients, and cut. */
export function redacted(body: Buffer | string | undefined): string | null {
  if (body === undefined) return null;
  const isWhole = body.length <= maxLoggedBytes;
  const most = maxLoggedBytes + longestSecret;
  const start = typeof body === 'string' ? body.slice(0, most) : body.toString('utf8', 0, most);
  const clean = start
    .replaceAll(secrets, '$1…')
    .replaceAll(hexadecimals, withoutSecret)
    .replaceAll(recipients, '$1"…"')
    // PostgreSQL stores no NUL.
    .replaceAll('\0', '\ufffd');
  const text = isWhole ? clean : `${clean.slice(0, -longestSecret)}…`;
  const bytes = Buffer.from(text);
  return bytes.length <= maxLoggedBytes ? text : `${bytes.toString('utf8', 0, maxLoggedBytes)}…`;
}

type WithBodies = Omit<Answered, 'isAdmitted'>;

export async function insertBodies(db: Queryable, requests: WithBodies[], withinMs: number): Promise<void> {
  const those = requests.flatMap(({ requestId, keyHolder, bodies }) =>
    keyHolder && bodies
      ? [{ id: uuidFromId(requestId), partnerId: uuidFromId(keyHolder.partnerId), bodies }]
      : [],
  );
  await db.query({
    text: `INSERT INTO api_request_bodies (request_id, at, partner_id, request_body, response_body)
           SELECT r.request_id, to_timestamp(r.at_ms / 1000), r.partner_id, r.request_body, r.response_body
             FROM ${commitsWithoutWaiting},
                  unnest($1::uuid[], $2::float8[], $3::uuid[], $4::text[], $5::text[])
                    AS r (request_id, at_ms, partner_id, request_body, response_body)`,
    values: [
      those.map(({ id }) => id),
      those.map(({ id }) => timeOfUuid(id)),
      those.map(({ partnerId }) => partnerId),
      those.map(({ bodies }) => redacted(bodies.sent)),
      those.map(({ bodies }) => redacted(bodies.answered)),
    ],
    query_timeout: withinMs,
  });
}

interface StoredBodies {
  requestBody: string | null;
  responseBody: string | null;
}

/** Undefined: they are not in the log, or not of this partner. */
export const findBodies = (db: Queryable, partnerId: Id<'prt'>, requestId: Id<'req'>) =>
  findRow<StoredBodies>(db, {
    text: `SELECT request_body AS "requestBody", response_body AS "responseBody"
             FROM api_request_bodies WHERE request_id = $1 AND partner_id = $2`,
    values: [uuidFromId(requestId), uuidFromId(partnerId)],
  });
