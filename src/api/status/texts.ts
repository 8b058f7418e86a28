import type { Language } from '../docs/locale.ts';
import type { ComponentState } from './service-status.ts';

const en = {
  title: 'Service status',
  description: 'Whether payments, webhooks and the exchange rate of Kopeck work now',
  overall: {
    operational: 'Everything works.',
    degraded: 'Some things work with delays.',
    down: 'Something does not work now. We are on it.',
  } satisfies Record<ComponentState, string>,
  maintenanceNow: 'Maintenance: new payments are not accepted. Payments in progress will be completed.',
  component: 'Component',
  state: 'State',
  components: { payments: 'Payments', webhooks: 'Webhooks', rate: 'Exchange rate' },
  states: { operational: 'Operational', degraded: 'Degraded', down: 'Down' } satisfies Record<
    ComponentState,
    string
  >,
  maintenance: 'Maintenance',
  window: (from: string, until: string) => `From ${from} to ${until}. New payments are not accepted then.`,
  noWindows: 'None is planned.',
  unknownWindows: 'It is not known now what is planned.',
  checkedAt: 'Checked on',
  forPrograms: 'As JSON',
};

const ru: typeof en = {
  title: 'Статус сервиса',
  description: 'Работают ли сейчас платежи, вебхуки и курс Kopeck',
  overall: {
    operational: 'Всё работает.',
    degraded: 'Часть сервиса работает с задержками.',
    down: 'Часть сервиса сейчас не работает. Мы этим занимаемся.',
  },
  maintenanceNow: 'Технические работы: новые платежи не принимаются. Начатые платежи завершатся.',
  component: 'Часть сервиса',
  state: 'Состояние',
  components: { payments: 'Платежи', webhooks: 'Вебхуки', rate: 'Курс' },
  states: { operational: 'Работает', degraded: 'Работает с задержками', down: 'Не работает' },
  maintenance: 'Технические работы',
  window: (from, until) => `С ${from} до ${until}. В это время новые платежи не принимаются.`,
  noWindows: 'Не запланированы.',
  unknownWindows: 'Сейчас неизвестно, что запланировано.',
  checkedAt: 'Проверено',
  forPrograms: 'В формате JSON',
};

export const textsByLanguage: Record<Language, typeof en> = { en, ru };

const locales = { en: 'en-GB', ru: 'ru' } as const;

/** In UTC, since partners are in many time zones. */
export function formatTime(language: Language, at: Date): string {
  const format = new Intl.DateTimeFormat(locales[language], {
    dateStyle: 'medium',
    timeStyle: 'short',
    timeZone: 'UTC',
  });
  return `${format.format(at)} UTC`;
}
