import { hash, verify } from '@node-rs/argon2';

/** What OWASP recommends at the least; argon2id is the package's own choice of algorithm. */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** Of nobody's password: for a name that is not there, so that its answer takes as long. */
const nobodys =
  '$argon2id$v=19$m=19456,t=2,p=1$gMcJz+S3OfDPOBPaMXdDgA$bWq5LaO+S4NC7LS19vfXB/UyR8Jy62+k2GhDY/Fi7lc';

/** The same characters may be typed in several ways; they are one password. */
const normal = (password: string) => password.normalize('NFKC');

export const hashPassword = (password: string) => hash(normal(password), cost);

export async function isPassword(password: string, passwordHash: string | null): Promise<boolean> {
  const isRight = await verify(passwordHash ?? nobodys, normal(password));
  return isRight && passwordHash !== null;
}

const leastLength = 12;
/** What must be left of it without the words that everybody tries first. */
const leastOfItsOwn = 6;
const leastDifferent = 5;
const rows = [
  '0123456789',
  'abcdefghijklmnopqrstuvwxyz',
  'qwertyuiopasdfghjklzxcvbnm',
  'йцукенгшщзхъфывапролджэ',
];
const obvious =
  /password|passwort|пароль|qwerty|йцукен|welcome|letmein|iloveyou|administrator|admin|operator|kopeck|копейка|secret|changeme|master|dragon|monkey|football|sunshine|princess|пожалуйста|любовь/g;

/** What is wrong with it, as one line for whoever has chosen it; undefined if it will do. */
export function objectionToPassword(password: string, name: string): string | undefined {
  const characters = [...normal(password)];
  if (characters.length < leastLength) return `Choose at least ${leastLength} characters.`;
  const plain = normal(password).toLowerCase();
  const rest = withoutRows(plain.replaceAll(name, '').replaceAll(obvious, '')).replace(/\P{L}+$/u, '');
  const isTrivial = new Set(characters).size < leastDifferent || isRepeated(plain);
  return isTrivial || [...rest].length < leastOfItsOwn
    ? 'It is too easy to guess: take several words that do not belong together.'
    : undefined;
}

/** Four or more in a row of the alphabet or the keyboard, forwards or backwards, count as nothing. */
function withoutRows(text: string): string {
  let rest = text;
  for (const row of rows.flatMap(forwards => [forwards, [...forwards].reverse().join('')]))
    for (let length = row.length; length >= 4; length--)
      for (let at = 0; at + length <= row.length; at++)
        rest = rest.replaceAll(row.slice(at, at + length), '');
  return rest;
}

const isRepeated = (text: string) => /^(.{1,6}?)\1+.{0,5}$/su.test(text);
