import type { Sabotage } from './sabotage.ts';

const breaker = { file: 'src/gateway/breaker.ts', test: 'test/gateway/breaker-partners.test.ts' };

/** Guards of the circuit breaker, and of a partner's share in calls of the gateway. */
export const gatewaySabotages: Sabotage[] = [
  {
    guard: 'slow codes of one partner do not open the circuit breaker',
    file: 'src/gateway/failure-streak.ts',
    pattern: /partners\.size >= minPartners && qrs\.size >= minQrs/,
    replacement: 'true',
    test: 'test/gateway/breaker.test.ts',
    failingTitle: 'slow QR codes of one partner',
  },
  {
    guard: 'an error for one code does not open the circuit breaker',
    file: 'src/gateway/transport.ts',
    pattern: /else breaker\.onFailure\(request\.source, true\);/,
    replacement: 'else breaker.onFailure(request.source, false);',
    test: 'test/gateway/breaker.test.ts',
    failingTitle: 'one partner’s code that gets an error',
  },
  {
    guard: 'a closed connection for one code does not open the circuit breaker',
    file: 'src/gateway/transport.ts',
    pattern: /request\.source, !isConnectError\(error\)/,
    replacement: 'request.source, false',
    test: 'test/gateway/breaker.test.ts',
    failingTitle: 'one partner’s code that gets a closed connection',
  },
  {
    guard: 'partners whose calls work are not held back by an open circuit breaker',
    ...breaker,
    pattern: /if \(streak\.hasPartner\(source\)\)/,
    replacement: 'if (true)',
    failingTitle: 'refuses no partner for bad codes of others',
  },
  {
    guard: 'a bad code takes the turn of no other code',
    ...breaker,
    pattern: /streak\.hasQr\(source\) \? failedCodes : source\.partner/,
    replacement: 'failedCodes',
    failingTitle: 'lets a partner whose code works try',
  },
  {
    guard: 'partners try one after the other while the circuit breaker is open',
    ...breaker,
    pattern: /Math\.max\(lastTurnMs \+ turnMs, nowMs\)/,
    replacement: 'Math.max(lastTurnMs, nowMs)',
    failingTitle: 'lets few of many partners try',
  },
  {
    guard: 'the most that try at once while the circuit breaker is open',
    ...breaker,
    pattern: / \|\| interval\.left === 0/,
    failingTitle: 'lets few try at once',
  },
  {
    guard: 'bad codes do not open the circuit breaker while anybody gets an answer',
    ...breaker,
    pattern: /if \(nowMs - streak\.sinceMs < quietMs\) return;/,
    failingTitle: 'two partners with four codes',
  },
  {
    guard: 'share of one partner in calls to resolve',
    file: 'src/gateway/http-gateway.ts',
    pattern: /if \(!leave\) return \{ outcome: 'gateway_busy' \};/,
    replacement: "if (!leave) throw new Error('no place');",
    test: 'test/gateway/breaker.test.ts',
    failingTitle: 'one partner’s slow QR codes',
  },
];
