import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';

/** The one error answer of the pages' APIs. */
export interface Refusal {
  error: {
    /** `signed_out`, `forbidden`, `csrf`, `throttled`, `not_found`, `invalid_request`, `stale` and those of the actions. */
    code: string;
    message: string;
    request_id: string;
  };
}

/** Why a request is not carried out, as the answer of a route. */
export class Refused {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  /** For the header Retry-After. */
  readonly retryAfterSec: number | undefined;

  constructor(status: number, code: string, message: string, retryAfterSec?: number) {
    this.status = status;
    this.code = code;
    this.message = message;
    this.retryAfterSec = retryAfterSec;
  }
}

export const refuse = (status: number, code: string, message: string) => new Refused(status, code, message);

export const throttled = (retryAfterSec: number, message = 'Too many requests: try again later.') =>
  new Refused(429, 'throttled', message, retryAfterSec);

export function sendRefusal({ id }: FastifyRequest, reply: FastifyReply, refused: Refused): FastifyReply {
  const { status, code, message, retryAfterSec } = refused;
  if (retryAfterSec !== undefined) reply.header('Retry-After', retryAfterSec);
  const refusal: Refusal = { error: { code, message, request_id: id } };
  return reply.status(status).type('application/json; charset=utf-8').send(JSON.stringify(refusal));
}

type Pieces = AsyncIterable<string | Uint8Array>;

const typesOfFiles: Record<string, string> = {
  csv: 'text/csv; charset=utf-8',
  json: 'application/json; charset=utf-8',
  pdf: 'application/pdf',
  // Of 1C, which reads nothing else.
  txt: 'text/plain; charset=windows-1251',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
};

/** A file as the answer of a route. */
export class Download {
  readonly name: string;
  readonly pieces: Pieces;

  constructor(name: string, pieces: Pieces) {
    this.name = name;
    this.pieces = pieces;
  }

  /** By the ending of its name. */
  get type(): string {
    return typesOfFiles[this.name.slice(this.name.lastIndexOf('.') + 1)]!;
  }
}

/** A file that is generated while it is sent; after an error it ends early, and the reason is logged. */
export const fileOf = (
  { log }: { log: { error(details: object, message: string): void } },
  { id }: FastifyRequest,
  pieces: Pieces,
) =>
  Readable.from(pieces).on('error', err =>
    log.error({ err, request_id: id }, 'a file could not be sent completely'),
  );

export const done = { outcome: 'done' } as const;

export const unsearchable = refuse(422, 'invalid_request', 'A filter is not valid: check the filters.');

/** The query string of lists: how many rows, and after which cursor. */
export const paging = {
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 }),
  after: Type.Optional(Type.String({ maxLength: 500 })),
};

/** Refuses the address of a webhook endpoint that the partner or support has entered. */
export const badAddress = refuse(
  400,
  'bad_address',
  'The address must begin with https:// and be reachable from the internet.',
);
