import { createHash, randomBytes } from 'node:crypto';

const tokenBytes = 32;
const tokenPattern = /^[\w-]{43}$/;

/** A secret that stands for a person or a session. Only its hash is stored. */
export const newToken = () => randomBytes(tokenBytes).toString('base64url');
export const isToken = (text: string) => tokenPattern.test(text);
export const hashOfToken = (token: string) => createHash('sha256').update(token).digest();
