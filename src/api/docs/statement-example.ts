import { only, partnerId } from './examples.ts';

/** The statement of the same morning (`examples.ts`), before the outcome of order-44 is known. */

const balances = (available: string, held: string, settled: string) => ({
  topup_usdt: '0.000000',
  treasury_usdt: '-10000.000000',
  available_usdt: available,
  held_usdt: held,
  settled_usdt: settled,
});

const opening = balances('10000.000000', '0.000000', '0.000000');
const closing = balances('9995.620323', '1.081298', '3.298379');

const transfers = {
  hold: { kind: 'hold', from: 'available', to: 'held' },
  settle: { kind: 'settle', from: 'held', to: 'settled' },
  release: { kind: 'release', from: 'held', to: 'available' },
};

const order42 = { payment_id: 'pay_01m7facgbve00a84p7s7mf3jgj', reference: null };
const order43 = { payment_id: 'pay_01m7fanndge00b7addvmap4jjy', reference: null };
const order44 = { payment_id: 'pay_01m7faytgne00bzewkz6ndvmn2', reference: null };

const entry = (
  entry_no: string,
  time: string,
  kind: keyof typeof transfers,
  amount_usdt: string,
  after: ReturnType<typeof balances>,
  order: typeof order42,
) => ({ entry_no, at: `2026-11-15T${time}Z`, ...transfers[kind], amount_usdt, after, ...order });

const entries = [
  entry('2', '10:00:00.123', 'hold', '3.298379', balances('9996.701621', '3.298379', '0.000000'), order42),
  entry('3', '10:00:00.187', 'settle', '3.298379', balances('9996.701621', '0.000000', '3.298379'), order42),
  entry('4', '10:05:00.208', 'hold', '1.081190', balances('9995.620431', '1.081190', '3.298379'), order43),
  entry('5', '10:05:00.264', 'release', '1.081190', balances('9996.701621', '0.000000', '3.298379'), order43),
  entry('6', '10:10:00.341', 'hold', '1.081298', closing, order44),
];

const digest = 'sha256:f4881244e8700d7d45b5e3fa68b54262c858e62b247b24c887288db67904789e';

export const statement = only('The three payments of the morning', {
  object: 'statement',
  partner_id: partnerId,
  mode: 'test',
  day: '2026-11-15',
  closed: false,
  currency: 'USDT',
  opening,
  entries,
  closing,
  open_holds: entries
    .slice(-1)
    .map(({ entry_no, at, amount_usdt, payment_id }) => ({ entry_no, at, amount_usdt, payment_id })),
  digest,
});

export const statementCsv = only(
  'The same as CSV',
  `record,number,at,kind,from,to,amount_usdt,topup_usdt,treasury_usdt,available_usdt,held_usdt,settled_usdt,payment_id,reference
statement,,2026-11-15,open,prt_01m7ddqjw0e008ytbvz7zrnnnw,test,,,,,,,,
opening,,,,,,,0.000000,-10000.000000,10000.000000,0.000000,0.000000,,
entry,2,2026-11-15T10:00:00.123Z,hold,available,held,3.298379,0.000000,-10000.000000,9996.701621,3.298379,0.000000,pay_01m7facgbve00a84p7s7mf3jgj,
entry,3,2026-11-15T10:00:00.187Z,settle,held,settled,3.298379,0.000000,-10000.000000,9996.701621,0.000000,3.298379,pay_01m7facgbve00a84p7s7mf3jgj,
entry,4,2026-11-15T10:05:00.208Z,hold,available,held,1.081190,0.000000,-10000.000000,9995.620431,1.081190,3.298379,pay_01m7fanndge00b7addvmap4jjy,
entry,5,2026-11-15T10:05:00.264Z,release,held,available,1.081190,0.000000,-10000.000000,9996.701621,0.000000,3.298379,pay_01m7fanndge00b7addvmap4jjy,
entry,6,2026-11-15T10:10:00.341Z,hold,available,held,1.081298,0.000000,-10000.000000,9995.620323,1.081298,3.298379,pay_01m7faytgne00bzewkz6ndvmn2,
closing,,,,,,,0.000000,-10000.000000,9995.620323,1.081298,3.298379,,
open_hold,6,2026-11-15T10:10:00.341Z,,,,1.081298,,,,,,pay_01m7faytgne00bzewkz6ndvmn2,
digest,,,,,,,,,,,,,${digest}
`,
);
