export { approveRequest, type Decision, refuseRequest, type VoidReason, withdrawRequest } from './decide.ts';
export {
  countWaiting,
  isRequester,
  listRequests,
  type Operator,
  type OperatorRequest,
  permissionFor,
} from './requests.ts';
export {
  submitCredit,
  submitDepositDecision,
  submitPaymentDecision,
  submitRelease,
  submitThresholds,
} from './submit.ts';
export { needsApproval, readThresholds } from './thresholds.ts';
