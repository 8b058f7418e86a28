import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { isLabel } from '../../base/label.ts';
import { parseKopecks } from '../../base/money.ts';
import type { Mode as ModeOfKey } from '../../ledger/index.ts';
import {
  type ApiKey,
  createKey,
  hasRight,
  keyObject,
  listKeys,
  maxActiveKeys,
  maxOverlapMs,
  maxRolledKeys,
  revokeKey,
  rollKey,
  scopes,
  setAllowedAddresses,
  type WantedKey,
} from '../../partners/index.ts';
import { type Answer, done, Mode, oneOf, Refused, Rubles, readAddresses, refuse } from '../../web/index.ts';
import type { RouteDeps } from '../deps.ts';
import { refuseRight } from '../guard.ts';
import { auditContextOf, get, post } from '../route.ts';

const below = '/keys';
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const maxAddresses = 20;
const Addresses = Type.Array(Type.String({ maxLength: 100 }), { maxItems: maxAddresses });

/** A live key spends the balance, so only an owner creates or changes one. */
const rightFor = (mode: ModeOfKey) => (mode === 'live' ? 'own' : 'integrate');

const list = get(below, 'integrate', {}, async (request, deps) => {
  const { partnerId } = request.member.partner;
  const keys = await listKeys(deps.readsOf(partnerId), partnerId);
  return { data: keys.map(key => keyObject(key, deps.clock)).reverse(), next_cursor: null };
});

/** A key of this partner that the member may change. */
async function find(request: FastifyRequest, deps: RouteDeps): Answer<ApiKey> {
  const { partner, role } = request.member;
  const { key_id } = request.params as { key_id: string };
  const keys = await listKeys(deps.db, partner.partnerId);
  const key = keys.find(one => one.keyId === key_id);
  if (!key) return refuse(404, 'not_found', 'Key not found.');
  return hasRight(role, rightFor(key.mode)) ? key : refuseRight(rightFor(key.mode));
}

const refusals = {
  no_partner: 'Partner not found.',
  partner_suspended: 'The partner is suspended.',
  not_approved: 'Live mode is not approved yet.',
  expiry_passed: 'The expiry is in the past.',
  no_key: 'Key not found.',
  already_revoked: 'The key is already revoked.',
  already_expired: 'The key has expired.',
  already_rolled: 'The key was already rolled.',
  overlap_too_long: 'The old key can stay valid for seven days at most.',
  too_many_keys: `The partner has ${maxActiveKeys} active keys in this mode: revoke one that is not needed.`,
  too_many_rolled_keys: `${maxRolledKeys} rolled keys of this mode are still valid: revoke one, or let the old key end at once.`,
  too_many_key_changes: 'The keys of the partner were changed too often today: try again tomorrow (UTC).',
} as const;

const NewKeyBody = {
  mode: Mode,
  scopes: Type.Array(oneOf(...scopes), { minItems: 1, maxItems: 2 }),
  label: Type.Optional(Type.String({ maxLength: 500 })),
  expires_in_days: Type.Optional(Type.Integer({ minimum: 1, maximum: 3_650 })),
  max_payment_rub: Type.Optional(Rubles),
  max_day_rub: Type.Optional(Rubles),
  allowed_addresses: Addresses,
};

export const create = post(below, 'integrate', { body: NewKeyBody }, async (request, deps) => {
  const { partner, role } = request.member;
  const { mode, label = '' } = request.body;
  if (!hasRight(role, rightFor(mode))) return refuseRight(rightFor(mode));
  const addresses = readAddresses(request.body.allowed_addresses);
  if (addresses instanceof Refused) return addresses;
  if (label.trim() !== '' && !isLabel(label.trim()))
    return refuse(400, 'invalid_request', 'Enter a label of up to 128 characters.');
  if ([request.body.max_payment_rub, request.body.max_day_rub].some(isZero))
    return refuse(400, 'invalid_request', 'A limit must be more than zero.');
  const wanted = wantedKey(request.body, partner.partnerId, addresses, deps.clock.nowMs());
  const created = await createKey(auditContextOf(deps, request), deps.keyring, wanted);
  if (created.outcome === 'created') return { key_id: created.apiKey.keyId, key: created.key };
  return refuse(409, created.outcome, refusals[created.outcome]);
});

const isZero = (rubles: string | undefined) => rubles !== undefined && parseKopecks(rubles) === 0n;

function wantedKey(
  body: Type.Static<Type.TObject<typeof NewKeyBody>>,
  partnerId: WantedKey['partnerId'],
  allowedAddresses: string[],
  nowMs: number,
): WantedKey {
  const kopecks = (rubles: string | undefined) => (rubles && parseKopecks(rubles)) || null;
  return {
    partnerId,
    mode: body.mode,
    allowedAddresses,
    label: body.label?.trim() || null,
    rights: {
      scopes: scopes.filter(scope => body.scopes.includes(scope)),
      maxKopecks: kopecks(body.max_payment_rub),
      dailyKopecks: kopecks(body.max_day_rub),
    },
    expiresAt: body.expires_in_days ? new Date(nowMs + body.expires_in_days * dayMs) : null,
  };
}

const overlap_hours = Type.Integer({ minimum: 0, maximum: maxOverlapMs / hourMs });
const roll = post(
  `${below}/:key_id/roll`,
  'integrate',
  { find, body: { overlap_hours } },
  async (request, deps, key) => {
    const overlapMs = request.body.overlap_hours * hourMs;
    const rolled = await rollKey(auditContextOf(deps, request), deps.keyring, key.keyId, overlapMs);
    if (rolled.outcome === 'rolled') return { key_id: rolled.apiKey.keyId, key: rolled.key };
    return refuse(409, rolled.outcome, refusals[rolled.outcome]);
  },
);

const revoke = post(`${below}/:key_id/revoke`, 'integrate', { find }, async (request, deps, key) => {
  const { outcome } = await revokeKey(auditContextOf(deps, request), key.keyId);
  return outcome === 'revoked' ? done : refuse(409, outcome, refusals[outcome]);
});

const allow = post(
  `${below}/:key_id/addresses`,
  'integrate',
  { find, body: { allowed_addresses: Addresses } },
  async (request, deps, key) => {
    const addresses = readAddresses(request.body.allowed_addresses);
    if (addresses instanceof Refused) return addresses;
    const { outcome } = await setAllowedAddresses(auditContextOf(deps, request), key.keyId, addresses);
    if (outcome !== 'changed' && outcome !== 'same_addresses') return refuse(409, outcome, refusals[outcome]);
    return done;
  },
);

/** The API keys of a partner. A secret is in the answer that creates its key, and nowhere else. */
export const keyRoutes = [list, create, roll, revoke, allow];
