import type { OtherPerson, SignInAnswer } from '../../../src/portal/shapes.ts';
import { send } from '../api.ts';

/** How somebody arrived: with a link of the bot, as a Mini App of Telegram, or otherwise. */
type Arrival = { kind: 'link'; token: string } | { kind: 'telegram'; initData: string } | { kind: 'other' };

/** Telegram puts its signed data behind the `#`, as the bot does with the token of a link. */
function readArrival(): Arrival {
  const behind = location.hash.slice(1);
  const initData = new URLSearchParams(behind).get('tgWebAppData');
  if (initData) return { kind: 'telegram', initData };
  return location.pathname.endsWith('/sign-in') && behind
    ? { kind: 'link', token: behind }
    : { kind: 'other' };
}

const arrival = readArrival();
// A secret that works once does not stay in the address bar and the history.
if (arrival.kind !== 'other') history.replaceState(null, '', location.pathname);

let signingIn: Promise<SignInAnswer> | undefined;

/** Signs in with the data of a Mini App, once. Undefined if the page was opened otherwise. */
export function signInOnArrival(): Promise<SignInAnswer> | undefined {
  if (arrival.kind === 'telegram') signingIn ??= signIn({});
  return signingIn;
}

/** With a link the reader signs in by a button, and chooses whether the device is remembered. */
export const hasLink = arrival.kind === 'link';
let remember = false;
export function signInWithLink(isRemembered: boolean): Promise<SignInAnswer> {
  remember = isRemembered;
  return signIn({});
}

/** The reader has agreed to end the session of the person who was signed in before. */
export const signInInstead = ({ session_id }: OtherPerson) => signIn({ replaces: session_id });

const signIn = (agreement: { replaces?: string }): Promise<SignInAnswer> =>
  arrival.kind === 'telegram'
    ? send('/sign-in/telegram', { init_data: arrival.initData, ...agreement })
    : send('/sign-in', { token: arrival.kind === 'link' ? arrival.token : '', remember, ...agreement });

export const isQuestion = (answer: SignInAnswer | undefined): answer is OtherPerson =>
  answer !== undefined && 'question' in answer;

/** Inside Telegram there is no address bar: the way back to a new session is the bot. */
export const isMiniApp = arrival.kind === 'telegram';
