import type { Clock } from '../base/clock.ts';
import type { Id } from '../base/ids.ts';
import { seal, unseal } from '../db/sealing.ts';
import { deriveKey } from '../db/secret-key.ts';
import { hashOfToken, newToken } from './sessions.ts';
import { newTotpSecret } from './totp.ts';

const validMs = 24 * 3_600_000;

/** A new set-up link. The operator gets the token; the other fields go into the operator's row. */
export interface NewLink {
  token: string;
  expiresAt: Date;
  hash: Buffer;
  sealedTotp: Buffer;
}

export function newLink(clock: Clock, secretKey: string, operatorId: Id<'opr'>): NewLink {
  const token = newToken();
  return {
    token,
    expiresAt: new Date(clock.nowMs() + validMs),
    hash: hashOfToken(token),
    sealedTotp: seal(totpKey(secretKey), newTotpSecret(), operatorId),
  };
}

export const openTotpSecret = (secretKey: string, sealed: Buffer, operatorId: Id<'opr'>) =>
  unseal(totpKey(secretKey), sealed, operatorId);

const totpKey = (secretKey: string) => deriveKey(secretKey, 'operator codes');

/** Browsers do not send what follows the `#`, so the token is in no log of a server or proxy. */
export const setupUrl = (address: string, token: string) => `${address}/console/setup#${token}`;
