import type { InlineKeyboardMarkup } from 'grammy/types';

export type Button =
  | { text: string; data: string }
  | { text: string; url: string }
  /** Opens the page inside Telegram, as a Mini App. */
  | { text: string; webApp: string };

/** The content of one message. The text is HTML; every value from outside is escaped. */
export interface Screen {
  text: string;
  buttons: Button[][];
}

/** Telegram's limit for callback data. */
const maxDataBytes = 64;

/** How the bot sends text. */
export const htmlWith = (buttons: Button[][]) =>
  ({
    parse_mode: 'HTML',
    reply_markup: keyboardOf(buttons),
    link_preview_options: { is_disabled: true },
  }) as const;

export function keyboardOf(buttons: Button[][]): InlineKeyboardMarkup {
  return {
    inline_keyboard: buttons.map(row =>
      row.map(button => {
        if ('url' in button) return { text: button.text, url: button.url };
        if ('webApp' in button) return { text: button.text, web_app: { url: button.webApp } };
        return { text: button.text, callback_data: withinLimit(button.data) };
      }),
    ),
  };
}

function withinLimit(data: string): string {
  if (Buffer.byteLength(data) > maxDataBytes) throw new Error(`callback data is too long: ${data}`);
  return data;
}

export const escapeHtml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** To the minute and in one time zone, since partners are in many. */
export const formatTime = (at: Date) => `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;

/** At most `max` characters; no surrogate pair is cut in half, which Telegram would refuse. */
export const clip = (text: string, max: number) => [...text].slice(0, max).join('');
