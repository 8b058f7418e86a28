import { responseText } from '../http/fault-texts.ts';
import type { SendResult } from '../http/post.ts';

/** What was wrong with the response to a probe: the one source for the console, the portal, the bot and the command line. */
export type CheckProblem = 'accepted' | 'refused' | 'redirected' | 'server_error' | 'timeout' | 'no_response';

/** Null: the response was right. A 5xx is a failure of the receiver, not a refusal. */
export function problemOf(verdict: SendResult, expected: 'accept' | 'refuse'): CheckProblem | null {
  if (verdict.outcome === 'failed') return verdict.error === 'timeout' ? 'timeout' : 'no_response';
  const { status } = verdict;
  if (status < 300) return expected === 'accept' ? null : 'accepted';
  if (status < 400) return 'redirected';
  if (status < 500) return expected === 'refuse' ? null : 'refused';
  return 'server_error';
}

/** A probe and its result. */
export interface Probed {
  name: string;
  expected: 'accept' | 'refuse';
  status: number | null;
  error: string | null;
  problem: CheckProblem | null;
}

const probes: Record<string, string> = {
  'a valid event': 'Valid event',
  'the same event again': 'Same event again',
  'a wrong signature': 'Invalid signature',
  'a timestamp ten minutes old': 'Timestamp ten minutes old',
  'a changed body': 'Changed body',
};

export const probeName = (name: string): string => probes[name] ?? name;

const expectations = { accept: 'must be accepted', refuse: 'must be refused' };

const problems: Record<CheckProblem, (result: Probed) => string> = {
  accepted: ({ status }) => `the server answered ${status}`,
  refused: ({ status }) => `the server answered ${status}`,
  redirected: ({ status }) =>
    `the server answered ${status}, a redirect, and redirects are not followed: enter the final URL`,
  server_error: ({ status, expected }) =>
    expected === 'accept'
      ? `the server answered ${status}, an error of its own`
      : `the server answered ${status}, which is no refusal: respond with a status from 400 to 499`,
  timeout: () => 'the server did not answer in time',
  no_response: result => `there was no response: ${responseText(result)}`,
};

/** What is wrong, in English; undefined if nothing is. */
export const problemText = (result: Probed): string | undefined =>
  result.problem === null
    ? undefined
    : `${probeName(result.name)}: ${expectations[result.expected]}, ${problems[result.problem](result)}`;
