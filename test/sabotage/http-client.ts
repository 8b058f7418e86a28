import type { Sabotage } from './sabotage.ts';

/** Guards against other systems that answer slowly or without end. */
export const httpClientSabotages: Sabotage[] = [
  {
    guard: 'a call has a deadline to the last byte',
    file: 'src/http-client/read-answer.ts',
    pattern: /(onResponseStart: [^\n]+\n)/,
    replacement: '$1cancelDeadline();',
    test: 'test/http-client/drips.test.ts',
    failingTitle: 'a call ends at its limit while the body drip',
  },
  {
    guard: 'an answer has a bound',
    file: 'src/http-client/read-answer.ts',
    pattern: /bytes > maxBytes/,
    replacement: 'false',
    test: 'test/http-client/call-http.test.ts',
    failingTitle: 'an answer that is too long',
  },
  {
    guard: 'the start does not wait for chain nodes',
    file: 'src/runtime/main.ts',
    pattern: /nodes\.refuseIfKnownWrong\(\);/,
    replacement: 'await nodes.verdict;',
    test: 'test/deposits/node-check.test.ts',
    failingTitle: 'the service is ready while a node drips',
  },
  {
    guard: 'a node of another network stops the start',
    file: 'src/deposits/check-nodes.ts',
    pattern: /if \(wrong\) throw wrong;/,
    test: 'test/deposits/node-check.test.ts',
    failingTitle: 'the node of another network, or another token',
  },
];
