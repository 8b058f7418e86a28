import { OperatorError } from '../../base/operator-error.ts';

/**
 * `too_large`: more than this service reads, or the node gives, at once. `refused`: the node may answer a smaller question. `throttled`: it may
 * answer later. `failed`: everything else.
 */
export type NodeFailure = 'too_large' | 'refused' | 'throttled' | 'failed';

/** What a node did wrong. It never names the address of the node, which may contain an access key. */
export class NodeError extends OperatorError {
  readonly failure: NodeFailure;

  constructor(message: string, failure: NodeFailure = 'failed') {
    super(message);
    this.failure = failure;
  }
}
