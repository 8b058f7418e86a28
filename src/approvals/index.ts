export { askCredit, askResolve, askThresholds, needsSecondPerson } from './ask.ts';
export {
  approveRequest,
  type Decision,
  refuseRequest,
  type VoidReason,
  withdrawRequest,
} from './decide.ts';
export {
  countWaiting,
  isAsker,
  listRequests,
  neededFor,
  type Operator,
  type OperatorRequest,
} from './requests.ts';
export { readThresholds } from './thresholds.ts';
