import type { Clock } from '../base/clock.ts';
import type { Id } from '../base/ids.ts';
import { hashOfToken, newToken } from '../base/token.ts';
import { createSealer, type Keyring, purposes } from '../db/secrets/index.ts';
import { newTotpSecret } from './totp.ts';

const validMs = 24 * 3_600_000;

/** A new set-up link. The operator gets the token; the other fields go into the operator's row. */
export interface NewLink {
  token: string;
  expiresAt: Date;
  hash: Buffer;
  sealedTotp: Buffer;
}

export function newLink(clock: Clock, keyring: Keyring, operatorId: Id<'opr'>): NewLink {
  const token = newToken();
  return {
    token,
    expiresAt: new Date(clock.nowMs() + validMs),
    hash: hashOfToken(token),
    sealedTotp: totpSealer(keyring).seal(newTotpSecret(), operatorId),
  };
}

export const openTotpSecret = (keyring: Keyring, sealed: Buffer, operatorId: Id<'opr'>) =>
  totpSealer(keyring).unseal(sealed, operatorId);

const totpSealer = (keyring: Keyring) => createSealer(keyring, purposes.operatorCodes);

/** Browsers do not send what follows the `#`, so the token is in no log of a server or proxy. */
export const setupUrl = (address: string, token: string) => `${address}/console/setup#${token}`;
