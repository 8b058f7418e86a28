import { loadOnUse } from '../base/load-on-use.ts';

const argon2 = loadOnUse<typeof import('@node-rs/argon2')>('@node-rs/argon2');

/** The minimum that OWASP recommends; argon2id is the default algorithm of the package. */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** Verified for an unknown name, so that its answer takes as long as for a known one. */
const dummyHash =
  '$argon2id$v=19$m=19456,t=2,p=1$gMcJz+S3OfDPOBPaMXdDgA$bWq5LaO+S4NC7LS19vfXB/UyR8Jy62+k2GhDY/Fi7lc';

/** Keyboards compose the same characters differently; the password is the same. */
const normalise = (password: string) => password.normalize('NFKC');

export const hashPassword = (password: string) => argon2().hash(normalise(password), cost);

export async function verifyPassword(password: string, passwordHash: string | null): Promise<boolean> {
  const isCorrect = await argon2().verify(passwordHash ?? dummyHash, normalise(password));
  return isCorrect && passwordHash !== null;
}

const minLength = 12;
/** Characters that must remain when the most common words are removed. */
const minUncommonLength = 6;
const minDistinct = 5;
const rows = [
  '0123456789',
  'abcdefghijklmnopqrstuvwxyz',
  'qwertyuiopasdfghjklzxcvbnm',
  'йцукенгшщзхъфывапролджэ',
];
const obvious =
  /password|passwort|пароль|qwerty|йцукен|welcome|letmein|iloveyou|administrator|admin|operator|kopeck|копейка|secret|changeme|master|dragon|monkey|football|sunshine|princess|пожалуйста|любовь/g;

/** What is wrong with a new password, as one line for its user; undefined if it is acceptable. */
export function passwordObjection(password: string, name: string): string | undefined {
  const characters = [...normalise(password)];
  if (characters.length < minLength) return `Choose at least ${minLength} characters.`;
  const plain = normalise(password).toLowerCase();
  const rest = [...withoutRows(plain.replaceAll(name, '').replaceAll(obvious, ''))];
  const restLength = rest.findLastIndex(character => /\p{L}/u.test(character)) + 1;
  const isTrivial = new Set(characters).size < minDistinct || isRepeated(plain);
  return isTrivial || restLength < minUncommonLength
    ? 'It is too easy to guess: use several unrelated words.'
    : undefined;
}

/** Removes runs of four or more adjacent letters of the alphabet or the keyboard, in either direction. */
function withoutRows(text: string): string {
  let rest = text;
  for (const row of rows.flatMap(forwards => [forwards, [...forwards].reverse().join('')]))
    for (let length = row.length; length >= 4; length--)
      for (let at = 0; at + length <= row.length; at++)
        rest = rest.replaceAll(row.slice(at, at + length), '');
  return rest;
}

const isRepeated = (text: string) => /^(.{1,6}?)\1+.{0,5}$/su.test(text);
