import { createHash, createHmac } from 'node:crypto';
import * as fs from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { encodeXml } from '../../src/db/backup-store/s3/xml.ts';
import { newFolder } from './folders.ts';
import { listen } from './local-server.ts';

/** Where `.ci/run` puts it. */
const packageFolder = join(import.meta.dirname, '../../node_modules/.cache/s3rver/node_modules/s3rver');
export const isS3Installed = fs.existsSync(packageFolder);

if (!isS3Installed)
  console.warn('\n!!! s3rver is not installed: its tests are SKIPPED. Run .ci/run to install it.\n');

interface S3rver {
  configureBuckets(): Promise<void>;
  callback(): (request: IncomingMessage, response: ServerResponse) => void;
}

/** Such as 503 SlowDown. */
export interface Refusal {
  status: number;
  code: string;
}

const require = createRequire(import.meta.url);

/** `s3rver` encrypts the token of a page with DES, which OpenSSL has only as a case of triple DES by now. */
function allowDes(): void {
  const crypto = require('node:crypto') as typeof import('node:crypto');
  const triple = (key: Buffer) => Buffer.concat([key, key, key]);
  const { createCipheriv, createDecipheriv } = crypto;
  const replacements = {
    createCipheriv: (name: string, key: Buffer, iv: Buffer) =>
      name === 'des' ? createCipheriv('des-ede3-cbc', triple(key), iv) : createCipheriv(name, key, iv),
    createDecipheriv: (name: string, key: Buffer, iv: Buffer) =>
      name === 'des' ? createDecipheriv('des-ede3-cbc', triple(key), iv) : createDecipheriv(name, key, iv),
  };
  Object.assign(crypto, replacements);
}

/** What `s3rver` knows; it checks no signature of version 4, so `createS3Server` does. */
const accessKeyId = 'S3RVER';
const secretAccessKey = 'S3RVER-secret-that-nobody-may-see';

/** A server that speaks S3, with the bucket `backups`. */
export async function createS3Server() {
  allowDes();
  const Server = require(packageFolder) as new (options: object) => S3rver;
  const directory = newFolder();
  const s3 = new Server({ directory, silent: true, configureBuckets: [{ name: 'backups' }] });
  await s3.configureBuckets();
  const handle = s3.callback();
  const url = await listen((request, response) => {
    const refusal = signatureProblem(request) ?? rangeProblem(request) ?? state.refuse(request);
    const { searchParams } = new URL(`http://${host}${request.url}`);
    if (!refusal && searchParams.has('delimiter') && request.url!.startsWith('/backups?'))
      return void response.end(listFolder(join(directory, 'backups'), searchParams.get('prefix')!));
    if (!refusal) return handle(request, response);
    // As a server does that reads the request first.
    request.resume().on('end', () => {
      const body = `<?xml version="1.0"?><Error><Code>${refusal.code}</Code><Message>no</Message></Error>`;
      response.writeHead(refusal.status, { 'content-type': 'application/xml' }).end(body);
    });
  });
  /** Of an empty object there is no first byte; `s3rver` breaks the connection instead. */
  function rangeProblem({ url = '', headers }: IncomingMessage): Refusal | undefined {
    if (!headers.range) return undefined;
    const [, , ...key] = decodeURIComponent(url.split('?')[0]!).split('/');
    const isEmpty = fs.statSync(state.fileOf(key.join('/')), { throwIfNoEntry: false })?.size === 0;
    return isEmpty ? { status: 416, code: 'InvalidRange' } : undefined;
  }
  const { host } = new URL(url);
  const state = {
    host,
    env: {
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: secretAccessKey,
      AWS_ENDPOINT_URL: url,
    },
    /** Replaced by tests. */
    refuse: (_request: IncomingMessage): Refusal | undefined => undefined,
    /** Where it keeps the object of this key. */
    fileOf: (key: string) => join(directory, 'backups', `${key}._S3rver_object`),
  };
  return state;
}

/** What is directly below the prefix. `s3rver` leaves out folders that have nothing but folders. */
function listFolder(root: string, prefix: string): string {
  const suffix = '._S3rver_object';
  const names = (fs.readdirSync(root, { recursive: true }) as string[])
    .filter(path => path.startsWith(prefix) && path.endsWith(suffix))
    .map(path => path.slice(prefix.length, -suffix.length).split('/'));
  const folders = new Set(names.filter(({ length }) => length > 1).map(([first]) => first!));
  const keys = names.filter(({ length }) => length === 1).map(([name]) => name!);
  const date = '2026-11-16T03:01:46.000Z';
  return [
    '<ListBucketResult>',
    ...keys.map(
      name =>
        `<Contents><Key>${encodeXml(prefix + name)}</Key><LastModified>${date}</LastModified></Contents>`,
    ),
    ...Array.from(
      folders,
      name => `<CommonPrefixes><Prefix>${encodeXml(prefix + name)}/</Prefix></CommonPrefixes>`,
    ),
    '</ListBucketResult>',
  ].join('');
}

/** Computed anew from the request as it arrived, as Amazon's manual describes it. */
function signatureProblem({ method, url = '', headers }: IncomingMessage): Refusal | undefined {
  const [, key, scope, names = '', signature] =
    /Credential=(\w+)\/(\S+), SignedHeaders=([\w;-]+), Signature=(\w+)/.exec(headers.authorization ?? '') ??
    [];
  if (key !== accessKeyId) return { status: 403, code: 'InvalidAccessKeyId' };
  const [path = '', query = ''] = url.split('?');
  const canonical = [
    method,
    path,
    query
      .split('&')
      .map(each => (each === '' || each.includes('=') ? each : `${each}=`))
      .sort()
      .join('&'),
    ...names.split(';').map(name => `${name}:${headers[name]}`),
    '',
    names,
    headers['x-amz-content-sha256'],
  ].join('\n');
  const hash = createHash('sha256').update(canonical).digest('hex');
  const text = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, hash].join('\n');
  const sign = (by: string | Buffer, what: string) => createHmac('sha256', by).update(what).digest();
  const signingKey = scope!.split('/').reduce<string | Buffer>(sign, `AWS4${secretAccessKey}`);
  return sign(signingKey, text).toString('hex') === signature
    ? undefined
    : { status: 403, code: 'SignatureDoesNotMatch' };
}
