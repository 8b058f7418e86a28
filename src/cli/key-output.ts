import type { Clock } from '../base/clock.ts';
import { programName } from '../base/program-name.ts';
import { type ApiKey, keyObject, rightsObject } from '../partners/index.ts';
import { RefusedError } from './refused.ts';

export const keepSecret =
  'Keep the key secret, like a password. Only its hash is stored, so it cannot be shown again.';

export const noSuchKey = (keyId: string) =>
  new RefusedError('no_key', `There is no key ${keyId}: see ${programName} key list.`);

export const tooManyKeyChanges = () =>
  new RefusedError(
    'too_many_key_changes',
    'The keys of this partner were changed too often today: try again tomorrow (UTC). A key can still be revoked.',
  );

export function limitsText({ rights }: ApiKey): string {
  const { max_payment_rub: payment, max_day_rub: day } = rightsObject(rights);
  return [payment && `${payment} a payment`, day && `${day} a day`].filter(Boolean).join(', ') || 'none';
}

export const describeKey = (key: ApiKey, clock: Clock) => ({
  partner_id: key.partnerId,
  ...keyObject(key, clock),
});
