import type { ReportLanguage } from '../texts.ts';

const monthNames = { ru: 'ru', en: 'en-GB' } as const;
const monthName = (language: ReportLanguage, month: string) =>
  new Intl.DateTimeFormat(monthNames[language], { month: 'long', year: 'numeric', timeZone: 'UTC' }).format(
    new Date(month),
  );

const ru = {
  code: (code: string, partner: string) => ({
    subject: `Kopeck: код подтверждения ${code}`,
    text: `Компания «${partner}» хочет присылать на этот адрес отчёты за месяц.\n\nКод подтверждения: ${code}\n\nЕсли вы согласны, передайте код тому, кто указал ваш адрес. Код действует сутки. Если письмо пришло по ошибке, ничего не делайте: писем больше не будет.`,
  }),
  report: (month: string, partner: string, hasFile: boolean) => ({
    subject: `Kopeck: отчёт за ${monthName('ru', month)}, ${partner}`,
    text: `${
      hasFile
        ? `Во вложении — отчёт компании «${partner}» за ${monthName('ru', month)}.`
        : `Отчёт компании «${partner}» за ${monthName('ru', month)} слишком большой для письма: скачайте его в кабинете партнёра.`
    }\n\nЧтобы отчёты больше не приходили, попросите владельца компании удалить ваш адрес: кабинет партнёра, раздел «Настройки».`,
  }),
};

const en: typeof ru = {
  code: (code, partner) => ({
    subject: `Kopeck: confirmation code ${code}`,
    text: `The company “${partner}” wants to send monthly reports to this address.\n\nConfirmation code: ${code}\n\nIf you agree, give the code to the person who entered your address. It is valid for a day. If you got this mail by mistake, do nothing: there will be no more.`,
  }),
  report: (month, partner, hasFile) => ({
    subject: `Kopeck: report for ${monthName('en', month)}, ${partner}`,
    text: `${
      hasFile
        ? `The report of the company “${partner}” for ${monthName('en', month)} is attached.`
        : `The report of the company “${partner}” for ${monthName('en', month)} is too large for a mail: download it in the portal.`
    }\n\nAn owner of the company can stop the reports to this address: the portal, Settings.`,
  }),
};

export const mailTexts = { ru, en };
