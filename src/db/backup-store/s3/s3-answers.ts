import { OperatorError } from '../../../base/operator-error.ts';
import { AnswerTooLongError, CallTimeoutError, type HttpAnswer } from '../../../http-client/index.ts';
import type { Bucket } from './bucket.ts';
import { textOf } from './xml.ts';

export type S3Answer = HttpAnswer;

/**
 * What the refusal says about itself, such as NoSuchKey. Some servers leave it out. A mere 404 has no code: any web server
 * answers so, and a file that seems to be missing would end a recovery.
 */
export const errorCodeOf = ({ body, status }: S3Answer) =>
  textOf(body.toString(), 'Code') ?? byStatus[status];

const byStatus: Record<number, string> = {
  301: 'PermanentRedirect',
  307: 'TemporaryRedirect',
  403: 'AccessDenied',
  412: 'PreconditionFailed',
  416: 'InvalidRange',
  501: 'NotImplemented',
};

/** What to do about a refusal, by its code. No message repeats a secret, nor what the server says about the request. */
const refusals: Record<string, (bucket: Bucket) => string> = {
  NoSuchBucket: ({ name, host }) =>
    `There is no bucket ${name} at ${host}: create it, or correct the address.`,
  InvalidAccessKeyId: ({ host }) => `${host} does not know the key in AWS_ACCESS_KEY_ID: correct it.`,
  SignatureDoesNotMatch: ({ host }) =>
    `${host} refuses the signature: AWS_SECRET_ACCESS_KEY does not belong to AWS_ACCESS_KEY_ID. Correct it.`,
  InvalidToken: ({ host }) => `${host} refuses AWS_SESSION_TOKEN: correct it, or unset it.`,
  ExpiredToken: ({ host }) => `AWS_SESSION_TOKEN has expired at ${host}: get new credentials.`,
  AccessDenied: ({ name, host }) =>
    `${host} denies access to the bucket ${name}: give the key in AWS_ACCESS_KEY_ID the permissions to list it and to read, write and delete in it.`,
  RequestTimeTooSkewed: ({ host }) =>
    `The clock of this machine differs from that of ${host}: synchronize it with NTP.`,
  PermanentRedirect: wrongRegion,
  TemporaryRedirect: wrongRegion,
  AuthorizationHeaderMalformed: wrongRegion,
  IllegalLocationConstraintException: wrongRegion,
};

function wrongRegion({ name, region }: Bucket): string {
  return `The bucket ${name} is not in ${region}: set AWS_REGION to its region.`;
}

export function explainAnswer(bucket: Bucket, answer: S3Answer): OperatorError {
  const code = errorCodeOf(answer);
  const refusal = code === undefined ? undefined : refusals[code];
  if (refusal) return new OperatorError(refusal(bucket));
  const what = code === undefined ? `status ${answer.status}` : `status ${answer.status}, ${code}`;
  const advice =
    answer.status >= 500
      ? 'try again later'
      : `check ${bucket.hasEndpoint ? 'AWS_ENDPOINT_URL' : 'the address'}`;
  return new OperatorError(`${bucket.host} does not answer as expected (${what}): ${advice}.`);
}

/** For a connection that cannot be made, or breaks. */
export function explainFailure({ host, hasEndpoint }: Bucket, error: unknown): OperatorError {
  const advice = hasEndpoint ? 'check AWS_ENDPOINT_URL' : 'check the network and AWS_REGION';
  return new OperatorError(`${host} cannot be reached (${reasonOf(error)}): ${advice}.`);
}

function reasonOf(error: unknown): string {
  if (error instanceof CallTimeoutError) return 'no answer in time';
  if (error instanceof AnswerTooLongError) return 'an answer of more than was asked for';
  const { code, errors } = error as NodeJS.ErrnoException & { errors?: NodeJS.ErrnoException[] };
  return code ?? errors?.[0]?.code ?? 'the connection broke';
}
