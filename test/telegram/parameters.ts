import Type, { type Static, type TObject, type TProperties, type TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import type { CallBody } from './body.ts';
import { violation } from './errors.ts';

const closed = <Properties extends TProperties>(properties: Properties) =>
  Type.Object(properties, { additionalProperties: false });

const optional = <Schema extends TSchema>(schema: Schema) => Type.Optional(schema);
const text = Type.String();
const flag = Type.Boolean();
const whole = Type.Integer();

const inlineButton = closed({
  text,
  style: optional(Type.Union([Type.Literal('danger'), Type.Literal('success'), Type.Literal('primary')])),
  callback_data: optional(text),
  url: optional(text),
  copy_text: optional(closed({ text: Type.String({ minLength: 1, maxLength: 256 }) })),
  web_app: optional(closed({ url: text })),
  switch_inline_query: optional(text),
});

const inlineKeyboard = closed({ inline_keyboard: Type.Array(Type.Array(inlineButton)) });

const replyKeyboard = closed({
  keyboard: Type.Array(
    Type.Array(
      Type.Union([text, closed({ text, request_contact: optional(flag), request_location: optional(flag) })]),
    ),
  ),
  is_persistent: optional(flag),
  resize_keyboard: optional(flag),
  one_time_keyboard: optional(flag),
  input_field_placeholder: optional(Type.String({ minLength: 1, maxLength: 64 })),
  selective: optional(flag),
});

const anyMarkup = Type.Union([
  inlineKeyboard,
  replyKeyboard,
  closed({ remove_keyboard: Type.Literal(true), selective: optional(flag) }),
  closed({
    force_reply: Type.Literal(true),
    input_field_placeholder: optional(text),
    selective: optional(flag),
  }),
]);

const linkPreview = closed({
  is_disabled: optional(flag),
  url: optional(text),
  prefer_small_media: optional(flag),
  prefer_large_media: optional(flag),
  show_above_text: optional(flag),
});

// Other modes exist, but escaping user texts in them is error-prone.
const parseMode = optional(Type.Literal('HTML'));
const updateKinds = optional(Type.Array(text));
const language = optional(Type.String({ pattern: '^([a-z]{2})?$' }));

const target = { chat_id: whole, message_id: whole };

/** Common to all sending methods, without business accounts, topics and paid posts. */
const sending = {
  chat_id: whole,
  message_thread_id: optional(whole),
  disable_notification: optional(flag),
  protect_content: optional(flag),
  allow_paid_broadcast: optional(flag),
  message_effect_id: optional(text),
  reply_parameters: optional(closed({ message_id: whole, allow_sending_without_reply: optional(flag) })),
  reply_markup: optional(anyMarkup),
};

const captioned = {
  caption: optional(text),
  parse_mode: parseMode,
  show_caption_above_media: optional(flag),
};

const commandScope = closed({
  type: text,
  chat_id: optional(whole),
  user_id: optional(whole),
});

export const parameters = {
  getMe: closed({}),
  getUpdates: closed({
    offset: optional(whole),
    limit: optional(Type.Integer({ minimum: 1, maximum: 100 })),
    timeout: optional(Type.Integer({ minimum: 0 })),
    allowed_updates: updateKinds,
  }),
  setWebhook: closed({
    url: text,
    ip_address: optional(text),
    max_connections: optional(Type.Integer({ minimum: 1, maximum: 100 })),
    allowed_updates: updateKinds,
    drop_pending_updates: optional(flag),
    secret_token: optional(Type.String({ pattern: '^[A-Za-z0-9_-]{1,256}$' })),
  }),
  deleteWebhook: closed({ drop_pending_updates: optional(flag) }),
  getWebhookInfo: closed({}),
  sendMessage: closed({
    ...sending,
    text,
    parse_mode: parseMode,
    link_preview_options: optional(linkPreview),
  }),
  sendPhoto: closed({ ...sending, ...captioned, photo: text, has_spoiler: optional(flag) }),
  sendDocument: closed({
    ...sending,
    caption: optional(text),
    parse_mode: parseMode,
    document: text,
    disable_content_type_detection: optional(flag),
  }),
  editMessageText: closed({
    ...target,
    text,
    parse_mode: parseMode,
    link_preview_options: optional(linkPreview),
    reply_markup: optional(inlineKeyboard),
  }),
  editMessageReplyMarkup: closed({ ...target, reply_markup: optional(inlineKeyboard) }),
  deleteMessage: closed(target),
  deleteMessages: closed({
    chat_id: whole,
    message_ids: Type.Array(whole, { minItems: 1, maxItems: 100 }),
  }),
  answerCallbackQuery: closed({
    callback_query_id: text,
    text: optional(Type.String({ maxLength: 200 })),
    show_alert: optional(flag),
    url: optional(text),
    cache_time: optional(whole),
  }),
  sendChatAction: closed({
    chat_id: whole,
    message_thread_id: optional(whole),
    action: Type.Union([
      Type.Literal('typing'),
      Type.Literal('upload_photo'),
      Type.Literal('upload_document'),
      Type.Literal('find_location'),
    ]),
  }),
  getFile: closed({ file_id: text }),
  setMyCommands: closed({
    commands: Type.Array(
      closed({
        command: Type.String({ pattern: '^[a-z0-9_]{1,32}$' }),
        description: Type.String({ minLength: 1, maxLength: 256 }),
      }),
      { maxItems: 100 },
    ),
    scope: optional(commandScope),
    language_code: language,
  }),
  setMyDescription: closed({
    description: optional(Type.String({ maxLength: 512 })),
    language_code: language,
  }),
  setChatMenuButton: closed({
    chat_id: optional(whole),
    menu_button: optional(
      closed({ type: text, text: optional(text), web_app: optional(closed({ url: text })) }),
    ),
  }),
};

export type MethodName = keyof typeof parameters;
export type ParametersOf<Name extends MethodName> = Static<(typeof parameters)[Name]>;
export type Markup = Static<typeof anyMarkup>;

export const isMethod = (name: string): name is MethodName => Object.hasOwn(parameters, name);

const validators = new Map(Object.entries(parameters).map(([name, schema]) => [name, Compile(schema)]));

/** Validates the parameters of a call: no unknown ones, none missing. */
export function readParameters<Name extends MethodName>(name: Name, body: CallBody): ParametersOf<Name> {
  const values = body.isMultipart ? fromForm(parameters[name], body) : body.values;
  const validator = validators.get(name)!;
  if (validator.Check(values)) return values as ParametersOf<Name>;
  const reasons = validator
    .Errors(values)
    .map(({ instancePath, message }) => `${instancePath} ${message}`.trim());
  throw violation(`wrong parameters: ${reasons.join('; ')}`);
}

/** In a form all values are text: numbers and flags as such, objects as JSON. */
function fromForm(schema: TObject, { values, uploads }: CallBody): Record<string, unknown> {
  const read = Object.entries(values).map(([name, value]) => [
    name,
    fromText(schema.properties[name], String(value)),
  ]);
  // A file may also come under the name of the parameter itself.
  const direct = [...uploads.keys()].filter(name => name in schema.properties);
  return Object.fromEntries([...read, ...direct.map(name => [name, `attach://${name}`])]);
}

function fromText(schema: TSchema | undefined, value: string): unknown {
  if (schema === undefined || Type.IsString(schema) || Type.IsLiteral(schema)) return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}
