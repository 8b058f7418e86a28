import type { FastifyReply, FastifyRequest } from 'fastify';
import { readCookie, setCookie } from '../web/index.ts';

/** Another one than that of the console: a browser may be signed in to both. */
const session = '__Host-kopeck-portal';

export const readSessionToken = (request: FastifyRequest) => readCookie(request, session);

/** It ends with the browser. */
export const setSessionCookie = (reply: FastifyReply, token: string) => setCookie(reply, session, token);

export const clearSessionCookie = (reply: FastifyReply) => setCookie(reply, session, '', 0);
