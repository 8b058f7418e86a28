import type { InlineKeyboardButton } from 'grammy/types';
import { violation } from './errors.ts';

/** What a button may do; every inline button does exactly one of these. */
const actions = ['callback_data', 'url', 'copy_text', 'web_app', 'switch_inline_query'] as const;

export type Keyboard = InlineKeyboardButton[][];

/** Checks what the schema does not: counts, lengths, and the action of a button. */
export function checkKeyboard(rows: Keyboard): void {
  const buttons = rows.flat();
  if (buttons.length > 100) throw violation('reply markup is too long');
  if (rows.some(row => row.length > 8)) throw violation('BUTTON_ROW_TOO_LONG');
  for (const button of buttons) checkButton(button);
}

function checkButton(button: InlineKeyboardButton): void {
  if (button.text.trim() === '')
    throw violation("can't parse inline keyboard button: Text must be non-empty");
  const does = actions.filter(action => action in button);
  if (does.length === 0) {
    throw violation("can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard");
  }
  if (does.length > 1) throw violation(`can't parse inline keyboard button: it has ${does.join(' and ')}`);
  if ('callback_data' in button) checkData(button.callback_data);
  if ('url' in button && !/^(https?|tg):\/\/[^\s/]+/.test(button.url)) throw violation('BUTTON_URL_INVALID');
}

function checkData(data: string): void {
  const bytes = Buffer.byteLength(data);
  if (bytes < 1 || bytes > 64) throw violation('BUTTON_DATA_INVALID');
}
