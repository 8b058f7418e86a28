/**
 * The headers of a documentation page, and of every answer that needs nothing. The pages are on the console's origin, so a script in one of them could act as the
 * operator: nothing is allowed that the page does not need, and no site may frame it.
 */
export const pageHeaders = (needed: string[]) => ({
  'Content-Security-Policy': [
    "default-src 'none'",
    ...needed,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
});
