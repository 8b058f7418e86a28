import { OperatorError } from '../../base/operator-error.ts';

/** What a node did wrong. The texts of the library contain the address of the node, and that may be a secret. */
export class NodeError extends OperatorError {
  /** The node may answer a smaller question. */
  readonly isTooMuch: boolean;

  constructor(message: string, isTooMuch = false) {
    super(message);
    this.isTooMuch = isTooMuch;
  }
}
