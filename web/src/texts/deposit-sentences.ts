/** What the server writes about deposits; see `server-sentences.ts`. */
export const depositSentences: [english: string, russian: string][] = [
  ['{} USDT on {}: {}. Credit or reject it.', '{} USDT, сеть {}: {}. Зачислите или отклоните пополнение.'],
  ['more than a billion USDT', 'больше миллиарда USDT'],
  ['its reference has already been credited', 'основание уже зачислено'],
  ['held by the screening service', 'задержано сервисом проверки'],
  ['no clear answer of the screening service', 'нет однозначного ответа сервиса проверки'],
  [
    'other deposits of its transaction were booked before, compare all of them with the chain',
    'другие переводы из этой транзакции уже учтены, сверьте их все с сетью',
  ],
  [
    'a node could not give its block, compare with what was credited by hand',
    'узел не смог отдать этот блок, сверьте с тем, что зачислено вручную',
  ],
  ['Deposits on {} are booked up to {} only.', 'Пополнения в сети {} обработаны только до {}.'],
  ['Deposits on {} are not read yet.', 'Пополнения в сети {} ещё не читаются.'],
  [
    'The transfers on {} in block {} to {} of {} are too many to be read. None of them was booked; what is read of them later is held.',
    'В сети {} в блоке {} слишком много переводов на адрес {} партнёра {}: прочитать их не удалось, ни один не учтён. Если их удастся прочитать позже, они будут задержаны.',
  ],
  [
    '{} deposits of {} on {} differ from the chain or the ledger: see kopeck deposit reconcile --chain {} --day {}.',
    'Расходятся с сетью или учётом пополнений: {}, дата {}, сеть {}. Подробнее: kopeck deposit reconcile --chain {} --day {}.',
  ],
  ['The {} node {} cannot be reached.', 'Узел {} № {} недоступен.'],
  ['The {} node {} did not answer in time.', 'Узел {} № {} не ответил вовремя.'],
  ['The {} node {} answered with HTTP status {}.', 'Узел {} № {}: ответ HTTP {}.'],
  ['The {} node {} refused the request with code {}.', 'Узел {} № {} отклонил запрос с кодом {}.'],
  ['The {} node {} gave an answer that cannot be read.', 'Узел {} № {}: ответ не удаётся прочитать.'],
  ['The {} node {} gave an answer that is too large.', 'Узел {} № {}: ответ слишком большой.'],
  ['{}: {}. Nothing is credited meanwhile.', '{}: {}. До исправления ничего не зачисляется.'],
  ['the nodes have different blocks {}', 'у узлов разные блоки {}'],
  [
    'the nodes have different transfers in the blocks {} to {}',
    'у узлов разные переводы в блоках с {} по {}',
  ],
  [
    'the {} node {} has a transfer of a block {} that is not its own',
    'узел {} № {} сообщает о переводе из блока {}, которого у него нет',
  ],
  [
    'the {} node {} has two different lists of transfers of the block {}',
    'узел {} № {} даёт два разных списка переводов блока {}',
  ],
  [
    'the {} node {} has the transaction {} in two blocks',
    'у узла {} № {} транзакция {} находится в двух блоках',
  ],
  ['the {} node {} has a log of {} twice', 'узел {} № {} дважды даёт одну и ту же запись транзакции {}'],
  [
    'the {} node {} is of another network ({}, not {})',
    'узел {} № {} относится к другой сети ({} вместо {})',
  ],
  [
    'the {} node {} says {} decimals of the contract, not {}',
    'узел {} № {} сообщает другое число знаков контракта: {} вместо {}',
  ],
  [
    'the {} node {} has another block {} than the one that was final',
    'у узла {} № {} другой блок {}, хотя прежний был окончательным',
  ],
];
