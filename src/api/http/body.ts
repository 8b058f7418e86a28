import type { FastifyInstance, FastifyRequest } from 'fastify';
import {
  JsonNumber,
  type JsonObject,
  JsonSyntaxError,
  type JsonValue,
  parseJson,
  stringifyJson,
} from '../../base/json.ts';
import { parseKopecks } from '../../base/money.ts';
import { shapeError } from './errors.ts';

export const maxBodyBytes = 64 * 1024;

/** Before a caller is known it sends a name, a password, a code or a token. */
export const smallBody = { maxBytes: 4 * 1024, maxDepth: 8 };

declare module 'fastify' {
  interface FastifyRequest {
    /** The body as it was sent, for the request log; only if the partner wants it there. */
    sentBody?: Buffer;
  }
  interface FastifyContextConfig {
    /** How deep the body of this route may be nested, if less than elsewhere. */
    maxBodyDepth?: number;
  }
}

/**
 * Bodies are parsed by `base/json.ts`, so that amounts and metadata keep the digits that were sent. The validator gets
 * the same value as plain JavaScript; routes read the lossless one.
 */
export function parseBodies(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', { parseAs: 'buffer' }, async (request: FastifyRequest, bytes: Buffer) => {
    if (request.keyHolder?.logsBodies) request.sentBody = bytes;
    const { text, lossless } = readBody(bytes, request.routeOptions.config.maxBodyDepth);
    // What is valid UTF-8 and JSON contains NUL and lone surrogates only as escapes.
    if (text.includes('\\u')) refuseUnstorableText(lossless);
    (request as FastifyRequest & { lossless?: JsonObject }).lossless = lossless;
    // Here numbers may be rounded: amounts and metadata are read from the lossless value.
    return JSON.parse(text);
  });
}

const decoder = new TextDecoder('utf-8', { fatal: true });

/** Refuses what is not a JSON object, with the position of the first error. */
function readBody(bytes: Buffer, maxDepth: number | undefined): { text: string; lossless: JsonObject } {
  if (bytes.length === 0) throw shapeError(['body'], 'Field required', 'missing');
  let text: string;
  let value: JsonValue;
  try {
    text = decoder.decode(bytes);
    value = parseJson(text, maxDepth);
  } catch (error) {
    const position = error instanceof JsonSyntaxError ? error.position : 0;
    throw shapeError(['body', position], 'JSON decode error', 'json_invalid');
  }
  if (!(value instanceof Map)) {
    throw shapeError(
      ['body'],
      'Input should be a valid dictionary or object to extract fields from',
      'model_attributes_type',
    );
  }
  return { text, lossless: value };
}

/** The body with every number as it was written. */
export const losslessBody = (request: FastifyRequest) =>
  (request as FastifyRequest & { lossless: JsonObject }).lossless;

/** A decimal string or a JSON number, parsed from its text and never as a float. */
export function readAmount(body: JsonObject): bigint | undefined {
  const value = body.get('amount_rub');
  if (value === undefined || value === null) return undefined;
  const text = value instanceof JsonNumber ? value.source : (value as string);
  const kopecks = parseKopecks(text);
  if (kopecks) return kopecks;
  throw shapeError(
    ['body', 'amount_rub'],
    'Input should be a positive amount in rubles with at most 2 decimal places',
    'decimal_parsing',
  );
}

const maxMetadataBytes = 16 * 1024;
const maxMetadataDepth = 32;

export function readMetadata(body: JsonObject): JsonObject {
  const value = body.get('metadata');
  if (!(value instanceof Map)) return new Map();
  const loc = ['body', 'metadata'];
  if (depthOf(value) > maxMetadataDepth) {
    throw shapeError(loc, `Input should be nested at most ${maxMetadataDepth} levels deep`, 'too_deep');
  }
  const text = stringifyJson(value);
  if (Buffer.byteLength(text) > maxMetadataBytes) {
    throw shapeError(loc, `Input should have at most ${maxMetadataBytes} bytes as JSON`, 'too_long');
  }
  return value;
}

function depthOf(value: JsonValue): number {
  if (Array.isArray(value)) return 1 + Math.max(0, ...value.map(depthOf));
  if (value instanceof Map) return 1 + Math.max(0, ...Array.from(value.values(), depthOf));
  return 0;
}

/** PostgreSQL cannot store NUL or a lone surrogate, so neither could be returned as it was sent. */
export function refuseUnstorableText(value: JsonValue, loc: (string | number)[] = ['body']): void {
  const path = pathToUnstorable(value);
  if (!path) return;
  throw shapeError(
    [...loc, ...path],
    'String should contain neither NUL nor lone surrogates',
    'string_unicode',
  );
}

/** The path is built on the way back from the first such text: every value is checked, and almost all have none. */
function pathToUnstorable(value: JsonValue): (string | number)[] | undefined {
  if (typeof value === 'string') return value.includes('\0') || !value.isWellFormed() ? [] : undefined;
  if (Array.isArray(value)) {
    for (const [index, member] of value.entries()) {
      const path = pathToUnstorable(member);
      if (path) return [index, ...path];
    }
  } else if (value instanceof Map) {
    for (const [key, member] of value) {
      if (pathToUnstorable(key)) return [];
      const path = pathToUnstorable(member);
      if (path) return [key, ...path];
    }
  }
  return undefined;
}
