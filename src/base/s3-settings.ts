/** How a bucket is reached, by the names that other programs use too. Checked only where a bucket is used. */
export interface S3Settings {
  accessKeyId: string | undefined;
  secretAccessKey: string | undefined;
  /** Only for temporary credentials. */
  sessionToken: string | undefined;
  region: string | undefined;
  /** A server that speaks S3; undefined means Amazon's. */
  endpoint: string | undefined;
}

const names: Record<keyof S3Settings, string> = {
  accessKeyId: 'AWS_ACCESS_KEY_ID',
  secretAccessKey: 'AWS_SECRET_ACCESS_KEY',
  sessionToken: 'AWS_SESSION_TOKEN',
  region: 'AWS_REGION',
  endpoint: 'AWS_ENDPOINT_URL',
};

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
