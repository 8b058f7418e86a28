/** How a bucket is reached, by the names that other programs use too. Checked only where a bucket is used. */
const names = {
  accessKeyId: 'AWS_ACCESS_KEY_ID',
  secretAccessKey: 'AWS_SECRET_ACCESS_KEY',
  /** Only for temporary credentials. */
  sessionToken: 'AWS_SESSION_TOKEN',
  region: 'AWS_REGION',
  /** A server that speaks S3; undefined means Amazon's. */
  endpoint: 'AWS_ENDPOINT_URL',
};
export type S3Settings = Record<keyof typeof names, string | undefined>;

const entries = Object.entries(names) as [keyof S3Settings, string][];

/** Undefined if none of them is set. */
export function readS3Settings(read: (name: string) => string | undefined): S3Settings | undefined {
  const settings = Object.fromEntries(
    entries.map(([key, name]) => [key, read(name)]),
  ) as unknown as S3Settings;
  return Object.values(settings).some(value => value !== undefined) ? settings : undefined;
}

/** The variables from which another process reads the same settings. */
export const s3Environment = (settings: S3Settings | undefined): Record<string, string> =>
  Object.fromEntries(
    entries.flatMap(([key, name]) => (settings?.[key] === undefined ? [] : [[name, settings[key]]])),
  );
