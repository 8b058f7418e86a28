import { Stack } from '@mantine/core';
import { useState, useSyncExternalStore } from 'react';
import { useLocation } from 'wouter';
import type { ByHandLimits, ResolvedQr } from '../../../../src/portal/shapes.ts';
import type { PaymentRow } from '../../../../src/web/shapes.ts';
import { outside, Refused, send } from '../../api.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { useAttempt } from '../../parts/notify.ts';
import { Card, Facts, useOnce, WhyRefused } from '../../parts/page.tsx';
import { Rate, Rub, Usdt } from '../../parts/values.tsx';
import { type Mode, usePartner, usePerson } from '../partner.ts';
import { Action } from '../parts.tsx';
import { inBoth, useTexts } from '../texts/index.ts';

const texts = inBoth({
  pay: ['Pay', 'Оплатить'],
  title: (mode: Mode) => [
    mode === 'live' ? 'Pay by hand' : 'Pay by hand in test mode',
    mode === 'live' ? 'Платёж вручную' : 'Платёж вручную в тестовом режиме',
  ],
  says: (mode: Mode) => [
    mode === 'live'
      ? 'The recipient gets the money at once. It cannot be taken back here.'
      : 'No real money moves.',
    mode === 'live'
      ? 'Получатель сразу получит деньги. Отменить платёж здесь нельзя.'
      : 'Настоящие деньги не списываются.',
  ],
  aboutUsdt: [
    'The rate is taken when you pay, so the amount in USDT may differ slightly.',
    'Курс берётся в момент оплаты, поэтому сумма в USDT может немного отличаться.',
  ],
  first: [
    'First get the result of the payment without an answer',
    'Сначала узнайте результат платежа без ответа',
  ],
  noRate: ['The rate is out of date', 'Курс устарел'],
  aboveLimit: [
    'The amount is above the limit of payments by hand. Owners can raise it in the settings.',
    'Сумма больше лимита платежей вручную. Изменить лимит может владелец в настройках.',
  ],
  unclear: ['A payment without an answer', 'Платёж без ответа'],
  unclearSays: [
    'You confirmed this payment, and no answer arrived. Ask for its result: it is paid once at most, and if it was not paid yet, it is paid now.',
    'Вы подтвердили этот платёж, но ответ не пришёл. Запросите результат: платёж пройдёт не больше одного раза, а если ещё не прошёл, пройдёт сейчас.',
  ],
  find: ['Get the result', 'Узнать результат'],
  debited: ['To be debited', 'Будет списано'],
  testMode: ['Test mode', 'Тестовый режим'],
});

/** What was confirmed. It is sent as it is, however often, and one payment comes of it. */
interface Confirmed {
  mode: Mode;
  qr_url: string;
  amount_rub: string;
  confirmation: string;
}

type Kept = Confirmed & { recipient: string };

/** Counts what the page has to show: not while an answer is awaited. */
const answered = outside(0);

/** Before the key of the confirmation is looked up, these refuse: it may have been paid already. */
const undecided = ['csrf', 'forbidden', 'no_partner', 'not_approved', 'partner_suspended', 'signed_out'];
const isFinal = (error: unknown) =>
  error instanceof Refused &&
  error.status >= 400 &&
  error.status < 500 &&
  error.status !== 429 &&
  !undecided.includes(error.code);

/** What this person has confirmed is kept by the tab until its final answer, also when the tab is loaded again. */
function usePay() {
  const { api, partner } = usePartner();
  const { person } = usePerson();
  const [, go] = useLocation();
  const key = `kopeck-portal-paying ${partner.partner_id} ${person.user_id}`;
  useSyncExternalStore(answered.subscribe, answered.get);
  const kept = JSON.parse(sessionStorage.getItem(key) ?? 'null') as Kept | null;
  async function pay(confirmed: Kept): Promise<void> {
    sessionStorage.setItem(key, JSON.stringify(confirmed));
    const { recipient, ...request } = confirmed;
    try {
      const payment = await send<PaymentRow>(api('/pay'), request);
      sessionStorage.removeItem(key);
      go(`/payments/${payment.payment_id}`);
    } catch (error) {
      if (isFinal(error)) sessionStorage.removeItem(key);
      answered.set(answered.get() + 1);
      throw error;
    }
  }
  return { pay, kept };
}

interface PayProps {
  qr: ResolvedQr;
  link: string;
  mode: Mode;
}

/** The button, and the question: whom, how much, at which rate. */
export function PayByHand({ qr, link, mode }: PayProps) {
  const t = useTexts(texts);
  const [confirmation, setConfirmation] = useState<string | null>(null);
  const { pay, kept } = usePay();
  const { api } = usePartner();
  const { data: limits } = useOnce<ByHandLimits>(api('/pay/limits'));
  const { recipient, amount_rub, amount_usdt, rate } = qr;
  const isAbove = limits !== undefined && Number(amount_rub) > Number(limits.max_payment_rub);
  return (
    <>
      <Action
        needs="pay"
        variant="filled"
        size="sm"
        why={kept ? t.first : amount_usdt === null ? t.noRate : isAbove ? t.aboveLimit : undefined}
        disabled={qr.why_not !== null}
        onClick={() => setConfirmation(crypto.randomUUID())}
      >
        {t.pay}
      </Action>
      {confirmation !== null && (
        <Confirm
          title={t.title(mode)}
          says={t.says(mode)}
          verb={t.pay}
          run={() => pay({ mode, qr_url: link, amount_rub, confirmation, recipient })}
          onClose={() => setConfirmation(null)}
        >
          <Facts
            facts={[
              [t.recipient, recipient],
              [t.amount, <Rub key="rub" amount={amount_rub} />],
              rate !== null && [t.rate, <Rate key="rate" rate={rate} />],
              amount_usdt !== null && [t.debited, <Usdt key="usdt" amount={amount_usdt} />],
            ]}
          />
          <p className="dim">{t.aboutUsdt}</p>
        </Confirm>
      )}
    </>
  );
}

/** After a lost answer, and when the page was loaded again before it. */
export function PaymentWithoutAnswer() {
  const t = useTexts(texts);
  const { pay, kept } = usePay();
  const { pending, refusal, attempt } = useAttempt();
  if (!kept) return refusal === null ? null : <WhyRefused error={refusal} />;
  return (
    <Card title={t.unclear}>
      <Stack gap="md" align="flex-start">
        <p>{t.unclearSays}</p>
        <Facts
          facts={[
            [t.recipient, kept.recipient],
            [t.amount, <Rub key="rub" amount={kept.amount_rub} />],
            kept.mode === 'test' && [t.mode, t.testMode],
          ]}
        />
        <WhyRefused error={refusal} />
        <Action needs="pay" size="sm" loading={pending} onClick={() => void attempt(() => pay(kept))}>
          {t.find}
        </Action>
      </Stack>
    </Card>
  );
}
