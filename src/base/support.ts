/**
 * The sentence of a text that leads to support, in one language: with SUPPORT_URL where to write, and without it what else to do.
 * Every text that names support gets its sentence here, so that none sends people to nobody.
 */
const supportIn =
  (contact: string) =>
  (url: string | undefined, otherwise: string, ask = contact): string =>
    url === undefined ? otherwise : `${ask}: ${addressOf(url)}`;

export const supportInEnglish = supportIn('Contact support');
export const supportInRussian = supportIn('Напишите в поддержку');

const mailScheme = 'mailto:';

/** An e-mail address as people write it. Chats and mail programs make a link of it, as of a URL. */
const addressOf = (url: string) => (url.startsWith(mailScheme) ? url.slice(mailScheme.length) : url);
