import type { FastifyReply } from 'fastify';
import { createConcurrencyLimit } from '../../base/concurrency-limit.ts';
import type { Queryable } from '../../db/postgres/index.ts';

/** Ends a long read with the connection of its reader: without this, one who leaves and asks again has many under way. */
export const whileConnected = (db: Queryable, { raw }: FastifyReply): Queryable => ({
  query: statement => (raw.closed ? Promise.reject(readerLeft()) : db.query(statement)),
});

const readerLeft = () => Object.assign(new Error('the reader has left'), { statusCode: 499 });

/** Answers that a partner may have under way at once: the place is taken until the answer is sent or its reader is gone. */
export function createAnswersUnderWay() {
  const limit = createConcurrencyLimit();
  return {
    /** False if the partner has `max` already. */
    begin: (partnerId: string, max: number, { raw }: FastifyReply): boolean => {
      const leave = limit.enter(partnerId, max);
      if (!leave) return false;
      // The reader may have left while the request waited, and then no event follows.
      if (raw.closed) leave();
      else raw.once('close', leave);
      return true;
    },
  };
}
