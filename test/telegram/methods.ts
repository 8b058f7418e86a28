import type { File, Update } from 'grammy/types';
import type { Call } from './context.ts';
import { deleteMessage, deleteMessages, editMessageReplyMarkup, editMessageText } from './editing.ts';
import { badRequest, Refusal, violation } from './errors.ts';
import type { MethodName, ParametersOf } from './parameters.ts';
import { sendDocument, sendMessage, sendPhoto, writableChat } from './sending.ts';

type Methods = { [Name in MethodName]: (call: Call, parameters: ParametersOf<Name>) => unknown };

/** The methods of the Bot API. Calls that only decorate the bot are accepted and recorded. */
export const methods: Methods = {
  getMe: ({ world }) => world.bot,
  getUpdates,
  setWebhook,
  deleteWebhook: ({ world }, { drop_pending_updates }) => {
    world.webhook.remove();
    if (drop_pending_updates) world.updates.drop();
    return true;
  },
  getWebhookInfo: ({ world }) => world.webhook.info(),
  sendMessage,
  sendPhoto,
  sendDocument,
  editMessageText,
  editMessageReplyMarkup,
  deleteMessage,
  deleteMessages,
  answerCallbackQuery: ({ world }, { callback_query_id, text, show_alert = false }) => {
    world.callbacks.answer(callback_query_id, { text, isAlert: show_alert });
    return true;
  },
  sendChatAction: ({ world }, { chat_id }) => {
    writableChat(world, chat_id);
    return true;
  },
  getFile,
  setMyCommands: () => true,
  setMyDescription: () => true,
  setChatMenuButton: () => true,
};

const activeWebhook =
  "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first";

function getUpdates({ world, gone }: Call, parameters: ParametersOf<'getUpdates'>): Promise<Update[]> {
  if (world.webhook.isSet) throw new Refusal(409, activeWebhook);
  world.updates.allow(parameters.allowed_updates);
  return world.updates.poll(parameters, gone);
}

/** Telegram requires HTTPS and certain ports; tests use plain HTTP on a free port. */
function setWebhook({ world }: Call, parameters: ParametersOf<'setWebhook'>): true {
  if (parameters.url !== '' && !URL.canParse(parameters.url)) {
    throw violation('bad webhook: invalid webhook URL specified');
  }
  world.updates.allow(parameters.allowed_updates);
  if (parameters.drop_pending_updates) world.updates.drop();
  if (parameters.url === '') world.webhook.remove();
  else world.webhook.set({ url: parameters.url, secretToken: parameters.secret_token });
  return true;
}

function getFile({ world }: Call, { file_id }: ParametersOf<'getFile'>): File {
  const file = world.files.byId(file_id);
  if (!file) throw badRequest('invalid file_id');
  const { id, uniqueId, path, bytes } = file;
  if (bytes.length > 20 * 1024 * 1024) throw badRequest('file is too big');
  return { file_id: id, file_unique_id: uniqueId, file_size: bytes.length, file_path: path };
}
