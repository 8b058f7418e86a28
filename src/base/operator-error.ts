/**
 * Something wrong that the person at the command line can mend. It is shown as one line, without a stack, so
 * the message names the thing and the fix.
 */
export class OperatorError extends Error {}
