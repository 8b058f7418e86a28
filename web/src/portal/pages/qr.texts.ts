import { inBoth } from '../../texts/language.ts';

export const texts = inBoth({
  lead: [
    'Shows who would be paid and how much. Nothing is paid.',
    'Показывает, кому и сколько будет уплачено. Платёж не создаётся.',
  ],
  link: ['Link of the QR code', 'Ссылка из QR-кода'],
  photo: ['Photo of the code', 'Фото кода'],
  notAPicture: [
    'This file is not a picture. Choose a photo of the QR code.',
    'Это не изображение. Выберите фото QR-кода.',
  ],
  purpose: ['Purpose', 'Назначение'],
  cost: ['At the current rate', 'По текущему курсу'],
  noRate: [
    'The rate is out of date, so the amount in USDT is not known.',
    'Курс устарел, сумма в USDT неизвестна.',
  ],
  code: ['QR code ID', 'ID QR-кода'],
  payable: ['Can be paid', 'Можно оплатить'],
  notPayable: ['Cannot be paid', 'Оплатить нельзя'],
  whyNot: {
    recipient_blocked: ['Payments to this recipient are blocked.', 'Платежи этому получателю заблокированы.'],
    below_minimum: [
      'The amount is below your smallest payment.',
      'Сумма меньше вашего минимального платежа.',
    ],
    above_maximum: [
      'The amount is above your largest payment.',
      'Сумма больше вашего максимального платежа.',
    ],
  },
  inTest: [
    'Test mode: any well-formed link can be paid, and the recipient is made up.',
    'Тестовый режим: подходит любая правильная ссылка, получатель вымышленный.',
  ],
});
