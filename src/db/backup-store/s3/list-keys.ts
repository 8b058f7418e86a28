import { OperatorError } from '../../../base/operator-error.ts';
import type { S3Client } from './s3-client.ts';
import { sectionsOf, textOf } from './xml.ts';

interface Listing {
  prefix: string;
  /** With it, keys that have one after the prefix are given as folders. */
  delimiter?: string;
  max?: number;
}

interface Listed {
  keys: { key: string; modifiedAt: Date }[];
  /** With the delimiter at their end. */
  folders: string[];
}

/** All pages, or the first `max` keys. */
export async function listKeys(send: S3Client, { prefix, delimiter, max }: Listing): Promise<Listed> {
  const found: Listed = { keys: [], folders: [] };
  let token: string | undefined;
  do {
    const { body } = await send({
      method: 'GET',
      query: {
        'list-type': '2',
        prefix,
        ...(delimiter === undefined ? {} : { delimiter }),
        ...(max === undefined ? {} : { 'max-keys': `${max}` }),
        ...(token === undefined ? {} : { 'continuation-token': token }),
      },
    });
    const xml = body.toString();
    if (!xml.includes('<ListBucketResult'))
      throw new OperatorError('The server at AWS_ENDPOINT_URL does not support S3: correct the setting.');
    for (const section of sectionsOf(xml, 'Contents'))
      found.keys.push({
        key: textOf(section, 'Key') ?? '',
        modifiedAt: new Date(textOf(section, 'LastModified') ?? ''),
      });
    for (const section of sectionsOf(xml, 'CommonPrefixes'))
      found.folders.push(textOf(section, 'Prefix') ?? '');
    token = max === undefined ? textOf(xml, 'NextContinuationToken') : undefined;
  } while (token);
  return found;
}
