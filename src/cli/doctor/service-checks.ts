import { abortAfter, instantOf, systemClock } from '../../base/clock.ts';
import { programName } from '../../base/program-name.ts';
import { createHttpGateway } from '../../gateway/index.ts';
import { callHttp } from '../../http-client/index.ts';
import { createRateSources, isStale, readCurrentRate } from '../../rates/index.ts';
import { bad, type Check, ok, warn } from './finding.ts';

const timeoutMs = 5_000;
const maxAnswerBytes = 64 * 1024;

/** Other systems that the service needs. */
export const serviceChecks: Record<string, Check> = {
  gateway: async ({ gatewayUrl, gatewayToken, production }, { clock }) => {
    if (gatewayUrl === undefined)
      return production
        ? bad('GATEWAY_URL is not set: the simulator never starts in production')
        : ok('the bundled simulator');
    const gateway = createHttpGateway({ url: gatewayUrl, token: gatewayToken, clock });
    try {
      await gateway.listOrders(instantOf(clock));
      return (await gateway.listRefunds(instantOf(clock)))
        ? ok('responds')
        : ok('responds; it has no list of refunds, so refunds are not booked by themselves');
    } catch (error) {
      return bad(`cannot list orders (${(error as Error).message}): check GATEWAY_URL and GATEWAY_TOKEN`);
    } finally {
      await gateway.close();
    }
  },
  rate: async ({ rateMaxAgeSec }, { pool, clock }) => {
    const rate = await readCurrentRate(pool);
    if (!rate) return bad(`no rate yet: ${programName} start fetches one from RATE_SOURCES`);
    const ageSec = Math.max(0, Math.round((clock.nowMs() - rate.asOf.getTime()) / 1_000));
    return isStale(rate, clock, rateMaxAgeSec)
      ? bad(`${ageSec} s old, the limit is ${rateMaxAgeSec} s: see ${programName} rate show`)
      : ok(`${ageSec} s old`);
  },
  'rate sources': async ({ rateSources, cryptoPayToken }, { clock }) => {
    if (!rateSources) return ok('the bundled simulator');
    const sources = createRateSources(rateSources, { clock, cryptoPayToken });
    const answers = await Promise.allSettled(
      sources.map(source => source.fetch(abortAfter(systemClock, timeoutMs))),
    );
    const failed = answers.flatMap((answer, index) =>
      answer.status === 'rejected' ? [`${sources[index]!.name} (${(answer.reason as Error).message})`] : [],
    );
    if (failed.length === 0) return ok(`${sources.map(({ name }) => name).join(', ')} respond`);
    const fix = `no quote from ${failed.join(', ')}: check RATE_SOURCES and that this machine may connect to them`;
    return failed.length === sources.length ? bad(fix) : warn(fix);
  },
  bot: async ({ telegramToken, telegramApiRoot, roles }) => {
    if (!telegramToken || !roles.includes('bot')) return ok('off');
    try {
      const url = `${telegramApiRoot}/bot${telegramToken}/getMe`;
      const { status } = await callHttp({ url, clock: systemClock, timeoutMs, maxBytes: maxAnswerBytes });
      if (status === 200) return ok('Telegram accepts the token');
      return bad(`Telegram refuses the token (${status}): get one from @BotFather for TELEGRAM_BOT_TOKEN`);
    } catch {
      return warn('Telegram does not respond: allow connections to api.telegram.org, port 443');
    }
  },
};
