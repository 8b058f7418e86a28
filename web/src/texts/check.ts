import type { CheckResult } from '../../../src/web/shapes.ts';
import { faultTexts } from './faults.ts';
import { inBoth, useTexts, type Words, wordIn } from './language.ts';

type Probed = CheckResult['results'][number];

/** The check of a webhook endpoint, in the console and in the portal. */
const texts = inBoth({
  probes: {
    'a valid event': ['Valid event', 'Корректное событие'],
    'the same event again': ['Same event again', 'То же событие ещё раз'],
    'a wrong signature': ['Invalid signature', 'Неверная подпись'],
    'a timestamp ten minutes old': ['Timestamp ten minutes old', 'Метка времени десятиминутной давности'],
    'a changed body': ['Changed body', 'Изменённое тело'],
  } as Words,
  expectations: {
    accept: ['must be accepted', 'нужно принять'],
    refuse: ['must be refused', 'нужно отклонить'],
  },
  problems: {
    accepted: (answer: string) => [`the server answered ${answer}`, `сервер ответил ${answer}`],
    refused: (answer: string) => [`the server answered ${answer}`, `сервер ответил ${answer}`],
    redirected: (answer: string) => [
      `the server answered ${answer}, a redirect, and redirects are not followed: enter the final URL`,
      `сервер ответил ${answer}, это перенаправление, а по ним мы не переходим: укажите конечный URL`,
    ],
    server_error: (answer: string) => [
      `the server answered ${answer}, an error of its own`,
      `сервер ответил ${answer}, это ошибка на его стороне`,
    ],
    timeout: (_answer: string) => ['the server did not answer in time', 'сервер не ответил вовремя'],
    no_response: (answer: string) => [`there was no response: ${answer}`, `ответа нет: ${answer}`],
  },
  noRefusal: (answer: string) => [
    `the server answered ${answer}, which is no refusal: respond with a status from 400 to 499`,
    `сервер ответил ${answer}, это не отказ: отвечайте статусом от 400 до 499`,
  ],
});

export function useCheckTexts() {
  const t = useTexts(texts);
  const faults = useTexts(faultTexts);
  const answerOf = (one: Probed) => wordIn(faults, one.answered);
  return {
    probeOf: (one: Probed) => wordIn(t.probes, one.name),
    answerOf,
    /** What is wrong; undefined if nothing is. */
    problemOf(one: Probed): string | undefined {
      if (one.problem === null) return undefined;
      const isNoRefusal = one.problem === 'server_error' && one.expected === 'refuse';
      const says = isNoRefusal ? t.noRefusal : t.problems[one.problem];
      return `${wordIn(t.probes, one.name)}: ${t.expectations[one.expected]}, ${says(answerOf(one))}`;
    },
  };
}
