import type { InlineKeyboardButton } from 'grammy/types';
import Type, { type Static, type TProperties, type TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { violation } from './errors.ts';

export type Keyboard = InlineKeyboardButton[][];

const closed = <Properties extends TProperties>(properties: Properties) =>
  Type.Object(properties, { additionalProperties: false });
const optional = <Schema extends TSchema>(schema: Schema) => Type.Optional(schema);
const text = Type.String();
const whole = Type.Integer();
const keyboard = closed({
  inline_keyboard: Type.Array(
    Type.Array(
      closed({
        text,
        callback_data: optional(text),
        url: optional(text),
        web_app: optional(closed({ url: text })),
      }),
    ),
  ),
});
// Other modes exist, but escaping user texts in them is error-prone.
const formatting = { parse_mode: optional(Type.Literal('HTML')), reply_markup: optional(keyboard) };
const written = {
  ...formatting,
  text,
  link_preview_options: optional(closed({ is_disabled: Type.Boolean() })),
};
const target = { chat_id: whole, message_id: whole };
const updateKinds = optional(Type.Array(text));

/** The methods of the Bot API that the bot calls, with the parameters that it uses: anything else is refused. */
const parameters = {
  getMe: closed({}),
  getUpdates: closed({
    offset: optional(whole),
    limit: optional(Type.Integer({ minimum: 1, maximum: 100 })),
    timeout: optional(Type.Integer({ minimum: 0 })),
    allowed_updates: updateKinds,
  }),
  setWebhook: closed({
    url: Type.String({ pattern: '^https?://' }),
    allowed_updates: updateKinds,
    secret_token: optional(Type.String({ pattern: '^[A-Za-z0-9_-]{1,256}$' })),
  }),
  deleteWebhook: closed({}),
  sendMessage: closed({ chat_id: whole, ...written }),
  sendPhoto: closed({ chat_id: whole, ...formatting, photo: text, caption: optional(text) }),
  sendDocument: closed({ chat_id: whole, ...formatting, document: text, caption: optional(text) }),
  editMessageText: closed({ ...target, ...written }),
  deleteMessage: closed(target),
  answerCallbackQuery: closed({
    callback_query_id: text,
    text: optional(Type.String({ maxLength: 200 })),
  }),
  getFile: closed({ file_id: text }),
};

export type MethodName = keyof typeof parameters;
export type ParametersOf<Name extends MethodName> = Static<(typeof parameters)[Name]>;

export const isMethod = (name: string): name is MethodName => Object.hasOwn(parameters, name);

const validators = new Map(Object.entries(parameters).map(([name, schema]) => [name, Compile(schema)]));

/** Validates the parameters of a call: no unknown ones, none missing. */
export function readParameters<Name extends MethodName>(name: Name, values: object): ParametersOf<Name> {
  const validator = validators.get(name)!;
  if (validator.Check(values)) return values as ParametersOf<Name>;
  const reasons = validator.Errors(values).map(({ instancePath, message }) => `${instancePath} ${message}`);
  throw violation(`wrong parameters: ${reasons.join('; ').trim()}`);
}

/** Checks what the schema does not: counts, lengths, and what a button does, which is exactly one thing. */
export function keyboardOf(markup: Static<typeof keyboard> | undefined): Keyboard {
  const rows = (markup?.inline_keyboard ?? []) as Keyboard;
  if (rows.flat().length > 100) throw violation('reply markup is too long');
  for (const row of rows) if (row.length > 8) throw violation('BUTTON_ROW_TOO_LONG');
  for (const button of rows.flat()) {
    if (button.text.trim() === '') throw violation('Text must be non-empty');
    const { text: _, ...actions } = button;
    if (Object.keys(actions).length !== 1)
      throw violation('Text buttons are unallowed in the inline keyboard');
    const bytes = 'callback_data' in button ? Buffer.byteLength(button.callback_data) : 1;
    if (bytes < 1 || bytes > 64) throw violation('BUTTON_DATA_INVALID');
    if ('url' in button && !/^https?:\/\/[^\s/]+/.test(button.url)) throw violation('BUTTON_URL_INVALID');
  }
  return rows.filter(row => row.length > 0);
}
