import { headerOf } from '../../../http-client/index.ts';
import type { Pieces } from '../files.ts';
import type { S3Client } from './s3-client.ts';
import { encodeXml, textOf } from './xml.ts';

/** With eight files at once, this bounds the memory of a backup. The smallest that S3 allows is 5 MiB. */
export const partBytes = 8 * 1024 * 1024;

/** In one request, or in parts. In both cases the object is there as a whole or not at all. */
export async function upload(send: S3Client, key: string, pieces: Pieces): Promise<void> {
  const parts = inParts(pieces);
  const first = (await parts.next()).value ?? Buffer.alloc(0);
  if (first.length < partBytes) {
    await send({ method: 'PUT', key, body: first });
    return;
  }
  const begun = await send({ method: 'POST', key, query: { uploads: '' } });
  const uploadId = textOf(begun.body.toString(), 'UploadId');
  if (uploadId === undefined) throw new Error(`no upload id for ${key}`);
  const tags: string[] = [];
  const sendPart = async (body: Buffer) => {
    const query = { partNumber: `${tags.length + 1}`, uploadId };
    tags.push(headerOf(await send({ method: 'PUT', key, query, body }), 'etag') ?? '');
  };
  try {
    await sendPart(first);
    for await (const part of parts) await sendPart(part);
    await send({ method: 'POST', key, query: { uploadId }, body: Buffer.from(completionOf(tags)) });
  } catch (error) {
    // Parts that stay are paid for. Not every server can abort, and the first error is the one to show.
    await send({ method: 'DELETE', key, query: { uploadId } }).catch(() => {});
    throw error;
  }
}

function completionOf(tags: string[]): string {
  const parts = tags.map(
    (tag, nth) => `<Part><PartNumber>${nth + 1}</PartNumber><ETag>${encodeXml(tag)}</ETag></Part>`,
  );
  return `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`;
}

/** All of `partBytes`, except the last one, which is shorter. */
async function* inParts(pieces: Pieces): AsyncGenerator<Buffer, undefined> {
  let collected: Buffer[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
    for (let from = 0; from < piece.length; ) {
      // A copy: the reader uses its buffer again.
      const taken = Buffer.from(piece.subarray(from, from + partBytes - bytes));
      collected.push(taken);
      bytes += taken.length;
      from += taken.length;
      if (bytes < partBytes) continue;
      yield Buffer.concat(collected);
      collected = [];
      bytes = 0;
    }
  }
  if (bytes > 0) yield Buffer.concat(collected);
}
