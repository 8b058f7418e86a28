import type { Sabotage } from './sabotage.ts';

const approvals = { test: 'test/approvals/approvals.test.ts' };
const enrolment = { test: 'test/approvals/enrolment-chain.test.ts' };
const sums = { test: 'test/approvals/sums-of-a-day.test.ts' };

/** Guards of four-eyes approval. */
export const approvalSabotages: Sabotage[] = [
  {
    guard: 'the answer to a second request names the one that waits',
    file: 'src/console/approval-replies.ts',
    test: 'test/console/payment-actions.test.ts',
    pattern: /return `New status: \$\{change\.outcome\}\.`;/,
    replacement: "return '';",
    failingTitle: 'a request for the opposite of what waits',
  },
  {
    guard: 'requester is not approver',
    file: 'src/approvals/requests.ts',
    ...approvals,
    pattern: /requestedBy === operatorId \|\| requesterName === name/,
    replacement: 'requestedBy === name',
    failingTitle: 'requester is not approver',
  },
  {
    guard: 'approval in one transaction',
    file: 'src/approvals/decide.ts',
    ...approvals,
    pattern: /await executeRequest\(tx, audit, request\)/,
    replacement: 'await transaction(audit.pool, apart => executeRequest(apart, audit, request))',
    failingTitle: 'one transaction:',
  },
  {
    guard: 'lock of a request',
    file: 'src/approvals/requests.ts',
    ...approvals,
    pattern: /WHERE id = \$1 FOR UPDATE/,
    replacement: 'WHERE id = $1',
    failingTitle: 'decided once:',
  },
  {
    guard: 'request is still waiting',
    file: 'src/approvals/decide.ts',
    ...approvals,
    pattern: /if \(request\.state !== 'waiting'\)/,
    replacement: 'if (false)',
    failingTitle: 'decided once:',
  },
  {
    guard: 'permission of the approver',
    file: 'src/approvals/decide.ts',
    ...approvals,
    pattern: /if \(!\(await canDecide\([^\n]*/,
    replacement: '',
    failingTitle: 'approving needs the permission',
  },
  {
    guard: 'requester and approver have independent access',
    file: 'src/approvals/decide.ts',
    ...enrolment,
    pattern: /if \(related\.size > 0\)/,
    replacement: 'if (false)',
    failingTitle: 'one admin cannot credit alone',
  },
  {
    guard: 'a reset joins the enrolment chain',
    file: 'src/operators/enrolment-chain.ts',
    ...enrolment,
    pattern: /IN \('operator\.create', 'operator\.reset'\)/,
    replacement: "= 'operator.create'",
    failingTitle: 'random chains',
  },
  {
    guard: 'enrolment chains go back to their roots',
    file: 'src/operators/enrolment-chain.ts',
    ...enrolment,
    pattern: /ON a\.subject = c\.member/,
    replacement: 'ON a.subject = c.operator',
    failingTitle: 'random chains',
  },
  {
    guard: 'what related operators did without approval',
    file: 'src/approvals/alone.ts',
    ...enrolment,
    pattern: /related\.has\(row\.operator\)/,
    replacement: 'row.operator === name',
    failingTitle: 'small credits of operators who may be one person',
  },
  {
    guard: 'sum of credits without approval',
    file: 'src/approvals/alone.ts',
    ...sums,
    pattern: /\(await sumAlone\(db, clock, operator, credits\)\) \+ /,
    replacement: '',
    failingTitle: 'credits to several partners',
  },
  {
    guard: 'sum of decisions without approval',
    file: 'src/approvals/alone.ts',
    ...sums,
    pattern: /\(await sumAlone\(db, clock, operator, decisions\)\) \+ /,
    replacement: '',
    failingTitle: 'decisions on several payments',
  },
  {
    guard: 'releasing an order counts like a decision',
    file: 'src/approvals/submit.ts',
    ...sums,
    pattern:
      /if \(await needsApproval\(tx, audit\.clock, operator, \{ mode: 'live', amountKopecks \}, thresholds\)\)/,
    replacement: 'if (false)',
    failingTitle: 'releasing an order without a payment',
  },
  {
    guard: 'lock for the sum of what was done without approval',
    file: 'src/approvals/thresholds.ts',
    ...sums,
    pattern: / FOR NO KEY UPDATE/,
    replacement: '',
    failingTitle: 'credits to several partners',
  },
];
