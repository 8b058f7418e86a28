import { randomBytes } from 'node:crypto';
import type { Document, PhotoSize } from 'grammy/types';
import { violation } from './errors.ts';

export interface StoredFile {
  id: string;
  uniqueId: string;
  /** Where it is downloaded. */
  path: string;
  name: string;
  mimeType: string;
  bytes: Buffer;
}

export interface Photo {
  full: StoredFile;
  /** From the smallest to the full size, as Telegram lists them. */
  sizes: PhotoSize[];
}

export interface FileStore {
  addPhoto(bytes: Buffer): Photo;
  addDocument(bytes: Buffer, name: string, mimeType?: string): StoredFile;
  byId(id: string): StoredFile | undefined;
  byPath(path: string): StoredFile | undefined;
}

/** One grey dot, so that a bot that uses the thumbnail instead of the photo fails its test. */
const dot = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==',
  'base64',
);

export function createFileStore(): FileStore {
  const files: StoredFile[] = [];
  const add = (bytes: Buffer, folder: string, name: string, mimeType: string): StoredFile => {
    const extension = /\.\w+$/.exec(name)?.[0] ?? '';
    const file: StoredFile = {
      id: `AgACAgIAAxkBAAI${randomBytes(36).toString('base64url')}`,
      uniqueId: `AQAD${randomBytes(8).toString('base64url')}`,
      path: `${folder}/file_${files.length}${extension}`,
      name,
      mimeType,
      bytes,
    };
    files.push(file);
    return file;
  };
  return {
    addPhoto: bytes => {
      const { type, width, height } = measure(bytes);
      const full = add(bytes, 'photos', `photo.${type}`, `image/${type}`);
      const thumbnail = add(dot, 'photos', 'photo.png', 'image/png');
      const scale = Math.min(90 / Math.max(width, height), 1);
      const small = { width: Math.ceil(width * scale), height: Math.ceil(height * scale) };
      return { full, sizes: [sizeOf(thumbnail, small), sizeOf(full, { width, height })] };
    },
    addDocument: (bytes, name, mimeType = 'application/octet-stream') =>
      add(bytes, 'documents', name, mimeType),
    byId: id => files.find(file => file.id === id),
    byPath: path => files.find(file => file.path === path),
  };
}

export const documentOf = (file: StoredFile): Document => ({
  file_name: file.name,
  mime_type: file.mimeType,
  file_id: file.id,
  file_unique_id: file.uniqueId,
  file_size: file.bytes.length,
});

const sizeOf = (file: StoredFile, size: { width: number; height: number }): PhotoSize => ({
  file_id: file.id,
  file_unique_id: file.uniqueId,
  file_size: file.bytes.length,
  ...size,
});

/** Type and size of a picture, within Telegram's limits for photos. */
function measure(bytes: Buffer) {
  const picture = measurePng(bytes) ?? measureJpeg(bytes);
  if (!picture) throw violation('IMAGE_PROCESS_FAILED');
  const { width, height } = picture;
  const isOutOfShape = Math.max(width, height) > 20 * Math.min(width, height);
  if (width + height > 10_000 || isOutOfShape) throw violation('PHOTO_INVALID_DIMENSIONS');
  if (bytes.length > 10 * 1024 * 1024) throw violation('file is too big for a photo');
  return picture;
}

function measurePng(bytes: Buffer) {
  if (bytes.length < 24 || bytes.readUInt32BE(0) !== 0x89504e47) return undefined;
  return { type: 'png', width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

function measureJpeg(bytes: Buffer) {
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== 0xffd8) return undefined;
  let at = 2;
  while (at + 9 < bytes.length) {
    const marker = bytes.readUInt16BE(at);
    // Frame headers hold the size; C4, C8 and CC are other segments.
    if (marker >= 0xffc0 && marker <= 0xffcf && ![0xffc4, 0xffc8, 0xffcc].includes(marker)) {
      return { type: 'jpg', height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
    }
    at += 2 + bytes.readUInt16BE(at + 2);
  }
  return undefined;
}
