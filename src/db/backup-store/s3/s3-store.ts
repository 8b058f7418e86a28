import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type S3Settings, s3Environment } from '../../../base/s3-settings.ts';
import { headerOf } from '../../../http-client/index.ts';
import { forEachFile } from '../files.ts';
import type { BackupStore, Drafts } from '../store.ts';
import { describeBucket } from './bucket.ts';
import { listKeys } from './list-keys.ts';
import { errorCodeOf, type S3Answer } from './s3-answers.ts';
import { createS3Client, type S3Client } from './s3-client.ts';
import { partBytes, upload } from './upload.ts';

/** Nothing is asked of the server yet. */
export function openS3Store(address: string, settings: S3Settings | undefined): BackupStore {
  const bucket = describeBucket(address, settings);
  const send = createS3Client(bucket);
  const keyOf = (path: string) => bucket.prefix + path;

  const list = async (folder: string) => {
    const prefix = `${keyOf(folder)}/`;
    const { keys, folders } = await listKeys(send, { prefix, delimiter: '/' });
    return [...folders.map(each => each.slice(0, -1)), ...keys.map(({ key }) => key)]
      .map(key => key.slice(prefix.length))
      .filter(name => name !== '');
  };
  const find: BackupStore['find'] = async path => {
    // A list explains a refusal, which the answer to a HEAD request cannot. The key itself is the first with this prefix.
    const { keys } = await listKeys(send, { prefix: keyOf(path), max: 1 });
    return keys[0]?.key === keyOf(path) ? keys[0] : undefined;
  };
  const read = (path: string) => readObject(send, keyOf(path), `${bucket.address}/${path}`);
  const remove = async (path: string) => void (await send({ method: 'DELETE', key: keyOf(path) }));
  const write: BackupStore['write'] = (path, pieces) => upload(send, keyOf(path), pieces);

  return {
    ...{ address: bucket.address, environment: s3Environment(settings), list, find, read, remove, write },
    copyTo: (path, target) => pipeline(Readable.from(read(path)), createWriteStream(target, { mode: 0o600 })),
    writeNew: async (path, content) =>
      (await find(path)) === undefined && (await putNew(send, keyOf(path), content)),
    removeFolder: async folder => {
      const { keys } = await listKeys(send, { prefix: `${keyOf(folder)}/` });
      await forEachFile(keys, async ({ key }) => void (await send({ method: 'DELETE', key })));
    },
    drafts: createDrafts({ list, find, write, remove }),
  };
}

/** A bucket has no folders and cannot rename: what has no last file is a draft. */
function createDrafts(store: Pick<BackupStore, 'list' | 'find' | 'write' | 'remove'>): Drafts {
  return {
    pathOf: folder => folder,
    list: async (parent, lastFile) => {
      const folders = (await store.list(parent)).map(name => `${parent}/${name}`);
      const lastFiles = await Promise.all(folders.map(folder => store.find(`${folder}/${lastFile}`)));
      return folders.filter((_folder, nth) => lastFiles[nth] === undefined);
    },
    begin: async () => {},
    complete: (folder, lastFile, content) => store.write(`${folder}/${lastFile}`, [content]),
    reopen: (folder, lastFile) => store.remove(`${folder}/${lastFile}`),
  };
}

/** Part by part, so that a part that fails can be asked for again. */
async function* readObject(send: S3Client, key: string, path: string): AsyncGenerator<Buffer> {
  for (let from = 0; ; ) {
    const headers = { range: `bytes=${from}-${from + partBytes - 1}` };
    const answer = await send({ method: 'GET', key, headers, expected: ['NoSuchKey', 'InvalidRange'] });
    const code = answer.status < 300 ? undefined : errorCodeOf(answer);
    if (code === 'NoSuchKey')
      throw Object.assign(new Error(`${path} is missing`), { code: 'ENOENT', path, syscall: 'read' });
    // There is nothing from here on; of an empty object not even the first byte.
    if (code === 'InvalidRange') return;
    yield answer.body;
    from += answer.body.length;
    if (from >= totalOf(answer, from)) return;
  }
}

/** Without the header the answer has the whole object. */
const totalOf = (answer: S3Answer, read: number) =>
  Number(headerOf(answer, 'content-range')?.split('/').at(-1) ?? read);

/** False if another process was faster. A server that cannot compare writes all the same: the caller has looked before. */
async function putNew(send: S3Client, key: string, body: Buffer): Promise<boolean> {
  const expected = ['PreconditionFailed', 'NotImplemented'];
  const answer = await send({ method: 'PUT', key, body, headers: { 'if-none-match': '*' }, expected });
  if (answer.status === 501) await send({ method: 'PUT', key, body });
  return answer.status !== 412;
}
