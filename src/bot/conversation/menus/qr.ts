import { GrammyError } from 'grammy';
import type { Clock } from '../../../base/clock.ts';
import { formatKopecks, formatMicroUsdt, kopecksToMicroUsdt } from '../../../base/money.ts';
import { isRecipientBlocked } from '../../../controls/index.ts';
import { callHttp } from '../../../http-client/index.ts';
import { resolveQr } from '../../../payments/index.ts';
import { isStale, readCurrentRate } from '../../../rates/index.ts';
import type { QrReader } from '../../images/qr-reader.ts';
import { button, type PartnerContext, send, supportRow } from '../chat-context.ts';
import { clip } from '../screen.ts';

/** Telegram's own photos are far smaller. */
const maxBytes = 10 * 1024 * 1024;
const downloadTimeoutMs = 20_000;

/** Texts of the recipient must not push the price out of the message. */
const maxTextLength = 500;

/** Resolves the QR code and shows its recipient and current price; nothing is paid. */
async function showQr(chat: PartnerContext, link: string): Promise<void> {
  const { deps, texts, partner } = chat;
  const text = await textAbout(chat, link);
  await send(chat, text, [
    ...(partner.suspended ? supportRow(deps, texts) : []),
    [button(chat, texts.menu, 'h')],
  ]);
}

async function textAbout({ texts, deps, partner }: PartnerContext, link: string): Promise<string> {
  if (partner.suspended) return texts.partner.suspended(deps.supportUrl);
  const mode = partner.liveApproved ? 'live' : 'test';
  const resolution = await resolveQr(deps, { ...partner, mode }, link);
  if (resolution.outcome === 'refused') return texts.qr.refused[resolution.code];
  const { qr } = resolution;
  const rate = await readCurrentRate(deps.pool);
  const fresh = rate && !isStale(rate, deps.clock, deps.rateMaxAgeSec) ? rate : undefined;
  return texts.qr.resolved({
    mode,
    recipient: clip(qr.recipient, maxTextLength),
    purpose: clip(qr.purpose, maxTextLength),
    rub: formatKopecks(qr.amountKopecks),
    usdt: fresh && formatMicroUsdt(kopecksToMicroUsdt(qr.amountKopecks, fresh.rateE4)),
    blocked: await isRecipientBlocked(deps.pool, [qr.recipient, qr.recipientId]),
  });
}

/** A typed link. The bank may take long to resolve it. */
export async function showQrLink(chat: PartnerContext, link: string): Promise<void> {
  chat.runInBackground(() => showQr(chat, link));
}

/** A photo, or a picture sent as a file. */
export async function showQrPhoto(chat: PartnerContext, fileId: string, qrReader: QrReader): Promise<void> {
  const { texts } = chat;
  chat.runInBackground(async () => {
    const reading = await qrReader.read(chat.person.userId, () => load(chat, fileId));
    const text = reading.outcome === 'read' ? reading.text : undefined;
    if (text !== undefined) return showQr(chat, text);
    const { busy, tooLarge, noCode } = texts.qr;
    await send(chat, { busy, too_large: tooLarge, read: noCode }[reading.outcome]);
  });
}

/** Undefined if it is too large; beyond 20 MB Telegram refuses it itself. */
async function load({ api, deps }: PartnerContext, fileId: string): Promise<Buffer | undefined> {
  const file = await api.getFile(fileId).catch(error => {
    if (error instanceof GrammyError && error.error_code === 400) return undefined;
    throw error;
  });
  if (!file) return undefined;
  const { file_path, file_size = 0 } = file;
  const address = `${deps.telegramApiRoot}/file/bot${deps.telegramToken}/${file_path}`;
  return file_size <= maxBytes ? download(deps.clock, address) : undefined;
}

/** The address contains the bot's token, so errors must not leave this function. */
async function download(clock: Clock, address: string): Promise<Buffer | undefined> {
  try {
    const { status, body } = await callHttp({ url: address, clock, timeoutMs: downloadTimeoutMs, maxBytes });
    return status === 200 ? body : undefined;
  } catch {
    return undefined;
  }
}
