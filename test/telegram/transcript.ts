import type { InlineKeyboardButton } from 'grammy/types';
import type { ChatMessage, ChatState } from './chats.ts';
import type { Keyboard } from './keyboard.ts';

export const captionsOf = (keyboard: Keyboard): string[][] =>
  keyboard.map(row => row.map(({ text }) => text));

/** The dialogue so far as text, for the messages of failed tests. */
export function transcript(chatState: ChatState): string {
  return chatState.messages.map(describe).join('\n') || '(no messages)';
}

function describe(message: ChatMessage): string {
  const media = message.photo ? '[photo] ' : message.document ? `[${message.document.name}] ` : '';
  const marks = [message.edits.length > 0 && 'edited', message.isDeleted && 'deleted'].filter(mark => mark);
  const mark = marks.length > 0 ? ` (${marks.join(', ')})` : '';
  const buttons = message.keyboard.map(row => `\n    ${row.map(nameOf).join(' ')}`).join('');
  return `${message.from.first_name} #${message.id}${mark}: ${media}${message.text}${buttons}`;
}

const nameOf = (button: InlineKeyboardButton) => `[${button.text}]`;
