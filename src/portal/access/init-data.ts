import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { displayName } from '../../base/label.ts';
import type { SignedData } from '../../partners/index.ts';

/** As long as a link of the bot is valid. */
const maxAgeMs = 10 * 60_000;
/** The clock of Telegram may be ahead of ours. */
const maxAheadMs = 60_000;

/**
 * What Telegram gives to a Mini App: a query string with the person, a time and a `hash` over all other fields, made with the
 * token of the bot. Undefined if it is not genuine or too old.
 */
export function readInitData(botToken: string, clock: Clock, text: string): SignedData | undefined {
  const fields = new URLSearchParams(text);
  const hash = fields.get('hash') ?? '';
  fields.delete('hash');
  const lines = [...fields].map(([name, value]) => `${name}=${value}`).sort();
  const key = createHmac('sha256', 'WebAppData').update(botToken).digest();
  const expected = createHmac('sha256', key).update(lines.join('\n')).digest();
  const sent = /^[0-9a-f]{64}$/.test(hash) ? Buffer.from(hash, 'hex') : Buffer.alloc(32);
  if (!timingSafeEqual(sent, expected)) return undefined;

  const signedMs = Number(fields.get('auth_date')) * 1_000;
  const ageMs = clock.nowMs() - signedMs;
  if (!(ageMs >= -maxAheadMs && ageMs <= maxAgeMs)) return undefined;
  const person = readPerson(fields.get('user') ?? '');
  // The hash stands for all of the data, in whatever order and encoding it is sent again.
  return person && { ...person, text: hash, expiresAt: new Date(signedMs + maxAgeMs) };
}

function readPerson(json: string): { userId: bigint; name: string } | undefined {
  try {
    const user = JSON.parse(json) as { id?: unknown; first_name?: unknown; last_name?: unknown };
    if (!Number.isSafeInteger(user.id)) return undefined;
    return { userId: BigInt(user.id as number), name: displayName(user.first_name, user.last_name) };
  } catch {
    return undefined;
  }
}
