import { OperatorError, refuseSetting } from '../../../base/operator-error.ts';
import type { S3Settings } from '../../../base/s3-settings.ts';

export type Bucket = ReturnType<typeof describeBucket>;

const scheme = 's3://';

export const isBucketAddress = (address: string) => address.startsWith(scheme);

/** Checks everything that can be checked without asking the server. */
export function describeBucket(given: string, settings: S3Settings | undefined) {
  const [name = '', ...folders] = given.slice(scheme.length).replace(/\/$/, '').split('/');
  const isWrong = folders.some(folder => ['', '.', '..'].includes(folder));
  if (!/^[\w.-]{3,63}$/.test(name) || isWrong)
    throw new OperatorError(`${given} is not a bucket address: write it as s3://BUCKET/FOLDER.`);
  const { sessionToken, endpoint } = settings ?? {};
  const credentials = {
    accessKeyId: required('AWS_ACCESS_KEY_ID', settings?.accessKeyId, name),
    secretAccessKey: required('AWS_SECRET_ACCESS_KEY', settings?.secretAccessKey, name),
    ...(sessionToken === undefined
      ? {}
      : { sessionToken: required('AWS_SESSION_TOKEN', sessionToken, name) }),
  };
  const region = regionOf(settings, name);
  const url = endpoint === undefined ? amazonUrl(name, region) : `${endpointUrl(endpoint)}/${name}`;
  return {
    /** As the operator writes it, without a slash at its end. */
    address: [scheme + name, ...folders].join('/'),
    name,
    /** Before every key: empty, or with a slash at its end. */
    prefix: folders.map(folder => `${folder}/`).join(''),
    /** Without a slash at its end. */
    url,
    /** For messages. */
    host: new URL(url).host,
    hasEndpoint: endpoint !== undefined,
    region,
    credentials,
  };
}

/** It goes into a header. The message never repeats it. */
function required(setting: string, value: string | undefined, bucket: string): string {
  if (value === undefined) refuseSetting(setting, `must be set for ${scheme}${bucket}`);
  return /^[\x21-\x7e]+$/.test(value)
    ? value
    : refuseSetting(setting, 'must be printable ASCII without spaces');
}

function regionOf(settings: S3Settings | undefined, name: string): string {
  // Servers of other makers accept this one, unless they are set up otherwise.
  const region = settings?.region ?? (settings?.endpoint === undefined ? undefined : 'us-east-1');
  if (region === undefined) refuseSetting('AWS_REGION', `must be set for ${scheme}${name}`);
  return /^[a-z0-9-]+$/.test(region)
    ? region
    : refuseSetting('AWS_REGION', 'must be a name such as eu-central-1');
}

/** A name with a dot does not fit the certificate of Amazon as part of the host. */
const amazonUrl = (name: string, region: string) =>
  name.includes('.')
    ? `https://s3.${region}.amazonaws.com/${name}`
    : `https://${name}.s3.${region}.amazonaws.com`;

/** The message does not repeat the value, which may have a password in it. */
function endpointUrl(endpoint: string): string {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  const isPlain = url?.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (!isPlain || !['http:', 'https:'].includes(url.protocol))
    refuseSetting('AWS_ENDPOINT_URL', 'must be an http:// or https:// URL without a password');
  return url.origin + url.pathname.replace(/\/$/, '');
}
