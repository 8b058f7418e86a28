import type { InlineKeyboardMarkup } from 'grammy/types';

export type Button = { text: string; data: string } | { text: string; url: string };

/** One message as somebody sees it. The text is HTML in which everything from outside is escaped. */
export interface Screen {
  text: string;
  buttons: Button[][];
}

/** Telegram's limit for what a button carries. */
const mostBytes = 64;

export function keyboardOf(buttons: Button[][]): InlineKeyboardMarkup {
  return {
    inline_keyboard: buttons.map(row =>
      row.map(button =>
        'url' in button
          ? { text: button.text, url: button.url }
          : { text: button.text, callback_data: withinLimit(button.data) },
      ),
    ),
  };
}

function withinLimit(data: string): string {
  if (Buffer.byteLength(data) > mostBytes) throw new Error(`too much for a button: ${data}`);
  return data;
}

export const escapeHtml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Only to the minute and in one time zone: partners are in many. */
export const formatTime = (at: Date) => `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;

/** At most so many characters, none of them cut in half: Telegram refuses what is not well formed. */
export const clip = (text: string, most: number) => [...text].slice(0, most).join('');
