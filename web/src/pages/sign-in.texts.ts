import { inBoth } from '../texts/index.ts';

export const texts = inBoth({
  signIn: ['Sign in', 'Войти'],
  password: ['Password', 'Пароль'],
  code: ['Code', 'Код'],
  codeHint: ['Six digits from your authenticator app', 'Шесть цифр из приложения-аутентификатора'],
  ended: [
    'Your session has ended. Sign in to continue where you left off.',
    'Сеанс завершён. Войдите, чтобы продолжить с того же места.',
  ],
  setUp: ['Set up your access', 'Настройка доступа'],
  setUpLead: (name: string, role: string) => [
    `You will sign in as ${name} (${role}).`,
    `Имя для входа: ${name} (${role}).`,
  ],
  scan: [
    'Scan this code with an authenticator app, such as Aegis, 1Password or Google Authenticator.',
    'Отсканируйте код приложением-аутентификатором, например Aegis, 1Password или Google Authenticator.',
  ],
  orType: ['Or enter this key manually:', 'Или введите ключ вручную:'],
  qr: ['QR code for your authenticator app', 'QR-код для приложения-аутентификатора'],
  choose: ['Choose a password', 'Придумайте пароль'],
  chooseHint: ['At least 12 characters', 'Не короче 12 символов'],
  tooShort: ['Use at least 12 characters.', 'Введите не меньше 12 символов.'],
  again: ['Confirm password', 'Повторите пароль'],
  notSame: ['The passwords do not match.', 'Пароли не совпадают.'],
  finish: ['Finish and sign in', 'Завершить и войти'],
  noToken: [
    'This link is incomplete. Open the whole link, including everything after the # sign.',
    'Ссылка неполная. Откройте её целиком, вместе с частью после знака #.',
  ],
  badToken: [
    'This link was already used or has expired. Ask an administrator for a new one.',
    'Ссылка уже использована или истекла. Попросите администратора прислать новую.',
  ],
});
