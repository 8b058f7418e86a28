import type { Clock } from '../../base/clock.ts';
import type { ChainName } from '../../base/deposit-settings.ts';
import { formatMicroUsdt } from '../../base/money.ts';
import { callHttp } from '../../http-client/index.ts';

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
  (clock: Clock, url: string, { timeoutMs = deadlineMs } = {}): Screen =>
  deposit =>
    askOnce({ clock, url, timeoutMs }, deposit).catch((): ScreenAnswer => 'no_answer');

async function askOnce(
  { clock, url, timeoutMs }: { clock: Clock; url: string; timeoutMs: number },
  deposit: ScreenedDeposit,
): Promise<ScreenAnswer> {
  const { status, body } = await callHttp({
    url,
    method: 'POST',
    headers: { accept: 'application/json', 'content-type': 'application/json', 'user-agent': 'kopeck' },
    body: JSON.stringify({
      chain: deposit.chain,
      transaction_id: deposit.transaction,
      log_index: deposit.logIndex,
      sender: deposit.sender,
      amount_usdt: formatMicroUsdt(deposit.microUsdt),
    }),
    clock,
    timeoutMs,
    maxBytes: maxAnswerBytes,
  });
  if (status !== 200) return 'no_answer';
  const { decision } = JSON.parse(body.toString('utf8'));
  return decision === 'allow' || decision === 'hold' ? decision : 'no_answer';
}
