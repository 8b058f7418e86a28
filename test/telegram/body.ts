import type { IncomingMessage } from 'node:http';
import { violation } from './errors.ts';

export interface Upload {
  fileName: string;
  bytes: Buffer;
}

/** The parameters of a call as sent, and the files that they reference as `attach://…`. */
export interface CallBody {
  isMultipart: boolean;
  values: Record<string, unknown>;
  uploads: Map<string, Upload>;
}

export async function readBody(request: IncomingMessage): Promise<CallBody> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  const type = request.headers['content-type'] ?? '';
  const boundary = /^multipart\/form-data;\s*boundary="?([^";]+)"?/i.exec(type)?.[1];
  if (boundary !== undefined) return parseMultipart(bytes, boundary);
  const values = bytes.length === 0 ? {} : parseJson(type, bytes.toString());
  return { isMultipart: false, values, uploads: new Map() };
}

function parseJson(type: string, text: string): Record<string, unknown> {
  if (!/^application\/json\b/i.test(type))
    throw violation(`content type ${type || '(none)'} is not supported`);
  try {
    const value = JSON.parse(text);
    if (value !== null && typeof value === 'object' && !Array.isArray(value)) return value;
  } catch {
    // Reported below, like JSON that is no object.
  }
  throw violation('the body is not a JSON object');
}

function parseMultipart(bytes: Buffer, boundary: string): CallBody {
  const body: CallBody = { isMultipart: true, values: {}, uploads: new Map() };
  for (const part of partsOf(bytes, Buffer.from(`--${boundary}`))) {
    const end = part.indexOf('\r\n\r\n');
    const head = part.subarray(0, end).toString();
    const content = part.subarray(end + 4);
    const name = /;\s*name="([^"]*)"/i.exec(head)?.[1];
    if (end < 0 || name === undefined) throw violation('a part of the form has no name');
    // Not all clients quote file names.
    const fileName = /;\s*filename="?([^"\r\n;]*)"?/i.exec(head)?.[1];
    if (fileName === undefined) body.values[name] = content.toString();
    else body.uploads.set(name, { fileName, bytes: Buffer.from(content) });
  }
  return body;
}

function partsOf(bytes: Buffer, delimiter: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  let start = bytes.indexOf(delimiter);
  while (start >= 0) {
    const from = start + delimiter.length + 2;
    const next = bytes.indexOf(delimiter, from);
    if (next >= 0) parts.push(bytes.subarray(from, next - 2));
    start = next;
  }
  return parts;
}
