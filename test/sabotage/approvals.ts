import type { Sabotage } from './sabotage.ts';

const approvals = { test: 'test/approvals/approvals.test.ts' };
const credits = { test: 'test/approvals/credit-and-thresholds.test.ts' };

/** Guards of four-eyes approval. */
export const approvalSabotages: Sabotage[] = [
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
    guard: 'issuer of access is not approver',
    file: 'src/operators/enrolment-chain.ts',
    ...approvals,
    pattern: /if \(issuer === other\) return true;/,
    replacement: '',
    failingTitle: 'four eyes: the issuer',
  },
  {
    guard: 'sum of credits without approval',
    file: 'src/approvals/submit.ts',
    ...credits,
    pattern: /alone \+ microUsdt > creditMicroUsdt/,
    replacement: 'microUsdt > creditMicroUsdt',
    failingTitle: 'many small credits',
  },
  {
    guard: 'lock on the operator who credits',
    file: 'src/approvals/submit.ts',
    ...credits,
    pattern: /SELECT FROM operators WHERE id = \$1 FOR NO KEY UPDATE/,
    replacement: 'SELECT FROM operators WHERE id = $1',
    failingTitle: 'many small credits',
  },
];
