import { inBoth } from './language.ts';

/** Sending events again, in the console and in the portal. */
export const resendTexts = inBoth({
  stop: ['Stop', 'Остановить'],
  progress: (done: number, of: number) => [
    `Queued ${done} of ${of}`,
    `Поставлено в очередь: ${done} из ${of}`,
  ],
  notQueued: (count: number) => [`Not queued: ${count}.`, `Не поставлено в очередь: ${count}.`],
  many: (count: number) => [`Resend: ${count}`, `Отправить повторно: ${count}`],
  allFailed: ['Resend all failed', 'Отправить повторно все недоставленные'],
  allFailedSays: (count: number) => [
    `Failed deliveries that match the filters: ${count}. Each event is queued with all attempts of the retry schedule, and endpoints get it with the same ID. Events of a suspended endpoint go out after a successful check.`,
    `Недоставленных событий, подходящих под фильтры: ${count}. Каждое снова встанет в очередь со всеми попытками по расписанию, обработчик получит его с тем же ID. Если отправка приостановлена, события уйдут после успешной проверки обработчика.`,
  ],
  thereAreMore: [
    'There are more of them. Repeat this when these are queued.',
    'Всего их больше. Когда эти встанут в очередь, повторите для остальных.',
  ],
  noneFailed: [
    'No failed delivery matches the filters.',
    'Недоставленных событий, подходящих под фильтры, нет.',
  ],
});
