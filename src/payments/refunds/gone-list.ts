import { OperatorError } from '../../base/operator-error.ts';

/** A proxy may answer so for a while. A gateway that has had the list has it, so this is a failure. */
export const refundListIsGone = () =>
  new OperatorError('The payment gateway had a list of refunds, and now answers that it has none: check it.');
