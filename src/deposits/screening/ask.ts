import { request } from 'undici';
import type { ChainName } from '../../base/deposit-settings.ts';
import { formatMicroUsdt } from '../../base/money.ts';

/** What is asked about. */
export interface ScreenedDeposit {
  chain: ChainName;
  transaction: string;
  logIndex: number;
  sender: string;
  microUsdt: bigint;
}

/** `no_answer` is everything but a clear yes or no in time: it holds the deposit as `hold` does. */
export type ScreenAnswer = 'allow' | 'hold' | 'no_answer';

/** Never fails. The address may contain an access key, so no error of the library goes anywhere. */
export type Screen = (deposit: ScreenedDeposit) => Promise<ScreenAnswer>;

/** From connecting to the last byte of the answer. */
const deadlineMs = 10_000;
/** More than any clear answer has. */
const maxAnswerBytes = 16_384;

/** Asks the screening service at `url` by POST. */
export const createScreen =
  (url: string, { timeoutMs = deadlineMs } = {}): Screen =>
  deposit =>
    askOnce(url, deposit, AbortSignal.timeout(timeoutMs)).catch((): ScreenAnswer => 'no_answer');

async function askOnce(url: string, deposit: ScreenedDeposit, signal: AbortSignal): Promise<ScreenAnswer> {
  // Redirects are not followed: undici needs an option for that.
  const answer = await request(url, {
    method: 'POST',
    signal,
    headers: { accept: 'application/json', 'content-type': 'application/json', 'user-agent': 'kopeck' },
    body: JSON.stringify({
      chain: deposit.chain,
      transaction_id: deposit.transaction,
      log_index: deposit.logIndex,
      sender: deposit.sender,
      amount_usdt: formatMicroUsdt(deposit.microUsdt),
    }),
  });
  answer.body.on('error', () => {});
  if (answer.statusCode !== 200) {
    answer.body.destroy();
    return 'no_answer';
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer.body) {
    bytes += chunk.length;
    if (bytes > maxAnswerBytes) return 'no_answer';
    chunks.push(chunk);
  }
  const { decision } = JSON.parse(Buffer.concat(chunks).toString('utf8'));
  return decision === 'allow' || decision === 'hold' ? decision : 'no_answer';
}
