import { GrammyError } from 'grammy';
import { formatKopecks, formatMicroUsdt, kopecksToMicroUsdt } from '../../../base/money.ts';
import { isRecipientBlocked } from '../../../controls/index.ts';
import { resolveQr } from '../../../payments/index.ts';
import { isStale, readCurrentRate } from '../../../rates/index.ts';
import type { QrReader } from '../../images/qr-reader.ts';
import { clip } from '../screen.ts';
import { dataOf, type PartnerVisit, send } from '../visit.ts';

/** Telegram's own photos are far smaller. */
const mostBytes = 10 * 1024 * 1024;

/** What others wrote into the code must leave room for what it costs. */
const longestText = 500;

/** Shows what a code is for and what it would cost now; nothing is paid. */
async function showQr(visit: PartnerVisit, link: string): Promise<void> {
  const { say, deps, partner } = visit;
  const buttons = [[{ text: say.menu, data: dataOf('h', partner) }]];
  if (partner.suspended) return void (await send(visit, { text: say.partner.suspended, buttons }));
  const mode = partner.liveApproved ? 'live' : 'test';
  const resolution = await resolveQr(deps, mode, link);
  if (resolution.outcome === 'refused') {
    await send(visit, { text: say.qr.refused[resolution.code], buttons });
    return;
  }
  const { qr } = resolution;
  const rate = await readCurrentRate(deps.pool);
  const fresh = rate && !isStale(rate, deps.clock, deps.rateMaxAgeSec) ? rate : undefined;
  await send(visit, {
    text: say.qr.resolved({
      mode,
      recipient: clip(qr.recipient, longestText),
      purpose: clip(qr.purpose, longestText),
      rub: formatKopecks(qr.amountKopecks),
      usdt: fresh && formatMicroUsdt(kopecksToMicroUsdt(qr.amountKopecks, fresh.rateE4)),
      blocked: await isRecipientBlocked(deps.pool, [qr.recipient, qr.recipientId]),
    }),
    buttons,
  });
}

/** A link that was typed; the bank may take its time to say what it is for. */
export async function showQrLink(visit: PartnerVisit, link: string): Promise<void> {
  visit.inBackground(() => showQr(visit, link));
}

/** A photo, or a picture sent as a file. */
export async function showQrPhoto(visit: PartnerVisit, fileId: string, reader: QrReader): Promise<void> {
  const { say } = visit;
  visit.inBackground(async () => {
    const reading = await reader.read(() => load(visit, fileId));
    if (reading.outcome === 'busy') return void (await send(visit, { text: say.qr.busy, buttons: [] }));
    if (reading.text === undefined) return void (await send(visit, { text: say.qr.noCode, buttons: [] }));
    await showQr(visit, reading.text);
  });
}

/** Undefined if it is too large; Telegram itself refuses those that are larger still. */
async function load({ api, deps }: PartnerVisit, fileId: string): Promise<Buffer | undefined> {
  const file = await api.getFile(fileId).catch(error => {
    if (error instanceof GrammyError && error.error_code === 400) return undefined;
    throw error;
  });
  if (!file) return undefined;
  const { file_path, file_size = 0 } = file;
  const address = `${deps.telegramApiRoot}/file/bot${deps.telegramToken}/${file_path}`;
  return file_size <= mostBytes ? download(address) : undefined;
}

/** The address holds the bot's token, so that no error of it may get out. */
async function download(address: string): Promise<Buffer | undefined> {
  try {
    const response = await fetch(address, { signal: AbortSignal.timeout(20_000), redirect: 'error' });
    if (!response.ok || Number(response.headers.get('content-length') ?? 0) > mostBytes) return undefined;
    const bytes = Buffer.from(await response.arrayBuffer());
    return bytes.length <= mostBytes ? bytes : undefined;
  } catch {
    return undefined;
  }
}
