import type { FastifyReply, FastifyRequest } from 'fastify';
import { type PortalSession, rememberedDays } from '../partners/index.ts';
import { readCookie, setCookie } from '../web/index.ts';

/** Another one than that of the console: a browser may be signed in to both. */
const session = '__Host-kopeck-portal';

export const readSessionToken = (request: FastifyRequest) => readCookie(request, session);

/** It ends with the browser, unless the device is remembered. */
export const setSessionCookie = (reply: FastifyReply, token: string, { isRemembered }: PortalSession) =>
  setCookie(reply, session, token, isRemembered ? rememberedDays * 86_400 : undefined);

export const clearSessionCookie = (reply: FastifyReply) => setCookie(reply, session, '', 0);
