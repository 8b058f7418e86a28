import { Link } from 'wouter';
import type { MemberRight, Overview } from '../../../../src/portal/shapes.ts';
import { Badge } from '../../parts/badge.tsx';
import { Card } from '../../parts/page.tsx';
import { usePartner } from '../partner.ts';
import { Support } from '../support.tsx';
import { inBoth, useTexts } from '../texts/index.ts';

type Step = Overview['first_steps'][number];

const texts = inBoth({
  title: ['First steps', 'Первые шаги'],
  steps: {
    test_key: ['Create a test key', 'Создать тестовый ключ'],
    payment: ['Make the first payment', 'Провести первый платёж'],
    webhook_check: ['Pass the webhook check', 'Пройти проверку вебхука'],
    live_approval: ['Get live mode approved', 'Получить доступ к боевому режиму'],
    top_up: ['Top up the live balance', 'Пополнить боевой баланс'],
  },
  states: {
    done: ['Done', 'Готово'],
    open: ['To do', 'Не выполнено'],
    pending: ['In review', 'На рассмотрении'],
    refused: ['Not approved', 'Не одобрено'],
  },
  pending: [
    'We are reviewing your request for live mode. The bot notifies the team of the decision.',
    'Мы рассматриваем ваш запрос на боевой режим. О решении сообщит бот.',
  ],
  refused: ['Test mode keeps working.', 'Тестовый режим продолжает работать.'],
  askReason: ['Ask support for the reason', 'Узнать причину в поддержке'],
  refusedOtherwise: [
    'If live mode is approved later, the bot notifies the team.',
    'Если боевой режим одобрят позже, об этом сообщит бот.',
  ],
});

/** Where a step is done, or the guide to it, and who may open that page. */
const places: Record<Step['step'], { path: string; needs: MemberRight; isPage: boolean }> = {
  test_key: { path: '/keys', needs: 'integrate', isPage: true },
  payment: { path: 'guides/first-payment', needs: 'money', isPage: false },
  webhook_check: { path: '/webhook', needs: 'integrate', isPage: true },
  live_approval: { path: 'guides/going-live', needs: 'money', isPage: false },
  top_up: { path: '/balance', needs: 'money', isPage: true },
};

const tones = { done: 'good', open: 'plain', pending: 'open', refused: 'bad' } as const;

/** What a new partner has done and what comes next; nothing, once all is done, or for people who do none of it. */
export function FirstSteps({ steps }: { steps: readonly Step[] }) {
  const t = useTexts(texts);
  const { may } = usePartner();
  if (steps.length === 0 || !may('integrate')) return null;
  return (
    <Card title={t.title}>
      <ol className="portal-steps">
        {steps.map(({ step, state }) => (
          <li key={step}>
            <span className="between">
              <StepLink step={step} />
              <Badge tone={tones[state]}>{t.states[state]}</Badge>
            </span>
            {state === 'pending' && <p className="dim">{t.pending}</p>}
            {state === 'refused' && (
              <p className="dim">
                {t.refused} <Support ask={t.askReason} otherwise={t.refusedOtherwise} />
              </p>
            )}
          </li>
        ))}
      </ol>
    </Card>
  );
}

function StepLink({ step }: Pick<Step, 'step'>) {
  const t = useTexts(texts);
  const { may } = usePartner();
  const { path, needs, isPage } = places[step];
  const name = t.steps[step];
  if (!may(needs)) return name;
  return isPage ? <Link href={path}>{name}</Link> : <a href={t.documentationPath + path}>{name}</a>;
}
