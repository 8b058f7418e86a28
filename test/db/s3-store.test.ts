import { createHash, randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readSettings } from '../../src/base/settings.ts';
import { openStore } from '../../src/db/backup-store/open-store.ts';
import { describeBucket } from '../../src/db/backup-store/s3/bucket.ts';
import { listKeys } from '../../src/db/backup-store/s3/list-keys.ts';
import type { S3Client } from '../../src/db/backup-store/s3/s3-client.ts';
import { readAll } from '../../src/db/backup-store/store.ts';
import { newFolder } from '../helpers/folders.ts';
import { createS3Server, isS3Installed, type Refusal } from '../helpers/s3-server.ts';

const slowDown: Refusal = { status: 503, code: 'SlowDown' };
const sumOf = (content: Buffer) => createHash('sha256').update(content).digest('hex');

test('Amazon is reached at the name of the bucket, other servers and names with dots by path', () => {
  const settings = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'key', AWS_REGION: 'eu-central-1' };
  const urlOf = (address: string, more: Record<string, string> = {}) =>
    describeBucket(address, readSettings({ ...settings, ...more }).s3).url;
  expect(urlOf('s3://mine/x')).toBe('https://mine.s3.eu-central-1.amazonaws.com');
  expect(urlOf('s3://mine.org')).toBe('https://s3.eu-central-1.amazonaws.com/mine.org');
  expect(urlOf('s3://mine/', { AWS_ENDPOINT_URL: 'http://minio:9000/' })).toBe('http://minio:9000/mine');
});

test('all pages of a list are read', async () => {
  const page = (key: string, token: string) =>
    `<ListBucketResult><Prefix>x/</Prefix><Contents><Key>${key}</Key><LastModified>2026-11-16T03:01:46.000Z</LastModified></Contents>${token}</ListBucketResult>`;
  const pages: Record<string, string> = {
    first: page('x/1', '<NextContinuationToken>a&amp;b</NextContinuationToken>'),
    'a&b': page('x/&#x32;&lt;', '<CommonPrefixes><Prefix>x/y/</Prefix></CommonPrefixes>'),
  };
  const send: S3Client = async ({ query }) => ({
    status: 200,
    headers: {},
    body: Buffer.from(pages[query?.['continuation-token'] ?? 'first']!),
  });
  const modifiedAt = new Date('2026-11-16T03:01:46Z');
  const keys = ['x/1', 'x/2<'].map(key => ({ key, modifiedAt }));
  expect(await listKeys(send, { prefix: 'x/', delimiter: '/' })).toEqual({ keys, folders: ['x/y/'] });
});

describe.runIf(isS3Installed)('a bucket as a store', async () => {
  if (!isS3Installed) return;
  const s3 = await createS3Server();
  const store = openStore('s3://backups/files', readSettings(s3.env).s3);

  test('a large file goes in parts, a part that fails is repeated, and all of it comes back', async () => {
    const content = randomBytes(20_000_000);
    const parts: string[] = [];
    s3.refuse = ({ method, url }) => {
      const part = /partNumber=(\d+)/.exec(url!)?.[1];
      if (method !== 'PUT' || !part) return undefined;
      parts.push(part);
      return parts.length === 2 ? slowDown : undefined;
    };
    await store.write('large', [content.subarray(0, 9_000_000), content.subarray(9_000_000)]);
    s3.refuse = () => undefined;
    expect(parts).toEqual(['1', '2', '2', '3']);
    expect(sumOf((await readAll(store, 'large'))!)).toBe(sumOf(content));
    const target = join(newFolder(), 'copy');
    await store.copyTo('large', target);
    expect(sumOf(fs.readFileSync(target))).toBe(sumOf(content));
  });

  test('an upload in parts that fails leaves no object', async () => {
    s3.refuse = ({ url }) =>
      url!.includes('partNumber=2') ? { status: 403, code: 'AccessDenied' } : undefined;
    await expect(store.write('broken', [Buffer.alloc(9_000_000)])).rejects.toThrow('denies access');
    s3.refuse = () => undefined;
    expect(await store.find('broken')).toBeUndefined();
    expect(await readAll(store, 'broken')).toBeUndefined();
  });

  test('empty files and unusual names', async () => {
    const names = ['0000', '0001'];
    const unusual = `a b+c&d'(é)%20#?.txt`;
    for (const name of [...names, unusual]) await store.write(`many/${name}`, []);
    expect((await store.list('many')).sort()).toEqual([...names, unusual].sort());
    expect(await readAll(store, `many/${unusual}`)).toEqual(Buffer.alloc(0));
    expect(await store.find('many/000')).toBeUndefined();
    await store.removeFolder('many');
    expect(await store.list('many')).toEqual([]);
    expect(await store.find('large')).toBeDefined();
  });

  test('a folder is complete with its last file and not before, and becomes a draft again without it', async () => {
    const { drafts } = store;
    await drafts.begin('base/1', { folders: [], bytes: 1 });
    await store.write(`${drafts.pathOf('base/1')}/data`, [Buffer.from('x')]);
    expect(await drafts.list('base', 'manifest')).toEqual(['base/1']);
    await drafts.complete('base/1', 'manifest', Buffer.from('m'));
    expect(await drafts.list('base', 'manifest')).toEqual([]);
    await drafts.reopen('base/1', 'manifest');
    expect(await drafts.list('base', 'manifest')).toEqual(['base/1']);
    await store.removeFolder('base/1');
    expect(await store.list('base')).toEqual([]);
  });

  test('a server that goes on failing is given up, and one that does not support S3 is named', async () => {
    let requests = 0;
    s3.refuse = () => {
      requests += 1;
      return slowDown;
    };
    await expect(store.list('many')).rejects.toThrow(
      `${s3.host} does not answer as expected (status 503, SlowDown): try again later.`,
    );
    expect(requests).toBe(4);
    s3.refuse = () => ({ status: 200, code: 'a page' });
    await expect(store.list('many')).rejects.toThrow('does not support S3');
    s3.refuse = () => undefined;
  });
});
