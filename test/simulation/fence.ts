/** An opening fails if the sweeper has freed its code: the request gets 503, and can be repeated. */
export const isFencedOff = (error: unknown): error is Error =>
  error instanceof Error && error.message === 'the code of a payment was freed before it was opened';
