import type { FastifyReply } from 'fastify';

/**
 * Scripts and styles come only from our own files, nothing is inline, and no site may frame the pages. Images may also
 * be data URLs: the QR code of a new operator is one.
 */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const permissionsPolicy = ['camera', 'geolocation', 'microphone', 'payment', 'usb']
  .map(feature => `${feature}=()`)
  .join(', ');

/** Set on every answer of the console and the portal, their APIs included. */
export function setSecurityHeaders(reply: FastifyReply): void {
  reply.headers({
    'Content-Security-Policy': contentSecurityPolicy,
    'X-Frame-Options': 'DENY',
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Permissions-Policy': permissionsPolicy,
  });
}
