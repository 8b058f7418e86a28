import { inBoth } from '../../texts/language.ts';

export const texts = inBoth({
  lead: [
    'Who works with this partner. All of them are notified of changes to keys and to the team.',
    'Кто работает с этим партнёром. Все получают уведомления об изменениях ключей и команды.',
  ],
  you: ['(you)', '(вы)'],
  joined: ['Joined, UTC', 'В команде с, UTC'],
  what: {
    viewer: ['Sees payments, balance and statements.', 'Видит платежи, баланс и выписки.'],
    developer: [
      'Also manages test keys and the webhook, and sees API requests.',
      'Ещё управляет тестовыми ключами и вебхуком, видит запросы к API.',
    ],
    owner: [
      'Also manages live keys, the team and alerts.',
      'Ещё управляет боевыми ключами, командой и уведомлениями.',
    ],
  },
  invite: ['Invite', 'Пригласить'],
  inviteSays: [
    'The link adds one person to the team. It works once, within 24 hours.',
    'Ссылка добавит в команду одного человека. Действует 24 часа и только один раз.',
  ],
  invitation: ['Invitation', 'Приглашение'],
  linkSays: [
    'Send this link to the person. It works once, within 24 hours.',
    'Отправьте эту ссылку человеку. Она действует 24 часа и только один раз.',
  ],
  commandSays: [
    'The person sends this text to the bot. It works once, within 24 hours.',
    'Этот текст человек отправляет боту. Он действует 24 часа и только один раз.',
  ],
  full: (max: number) => [
    `A team has ${max} members at most`,
    `В команде может быть не больше ${max} человек`,
  ],
  changeRole: ['Change role', 'Сменить роль'],
  removeSays: (name: string, partner: string) => [
    `${name} loses access to ${partner} at once.`,
    `${name} сразу потеряет доступ к ${partner}.`,
  ],
  leave: ['Leave', 'Выйти из команды'],
  leaveSays: (partner: string) => [
    `You lose access to ${partner} at once.`,
    `Вы сразу потеряете доступ к ${partner}.`,
  ],
});
