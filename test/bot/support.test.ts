import { describe, expect, test } from 'vitest';
import { approveLive, refuseLive, setSuspended } from '../../src/partners/index.ts';
import { createBotWorld } from './setup.ts';

const url = 'https://t.me/kopeck_help';
const withLink = await createBotWorld({ supportUrl: url });
const withMail = await createBotWorld({ supportUrl: 'mailto:help@kopeck.example' });
const without = await createBotWorld();

const aboutSupport = /support|поддержк/i;

describe.each([
  ['en', '💰 Balance', '➕ Top up', '🏠 Menu', '💬 Support', /deposit address/, /suspended/],
  ['ru', '💰 Баланс', '➕ Пополнить', '🏠 Меню', '💬 Поддержка', /Адреса для перевода/, /приостановлен/],
] as const)('in %s', (language, balance, topUp, menu, support, noAddress, suspended) => {
  const onBalance = language === 'en' ? /Low-balance alert/ : /Уведомление о низком балансе/;

  test('texts that lead to support name its address and have a button', async () => {
    const { owner, partnerId } = await withLink.ownerOf('Linked', language);
    await refuseLive(withLink.audit, partnerId);
    const refused = await owner.reads(({ text }) => text.includes(url));
    expect(refused.message.keyboard).toMatchObject([[{ text: support, url }], [{ text: menu }]]);

    await approveLive(withLink.audit, partnerId);
    await owner.writes('/menu', /Linked/);
    const noDeposits = await owner.goes([balance, onBalance], [topUp, noAddress]);
    expect(noDeposits.text).toContain(url);
    expect(noDeposits.message.keyboard[0]).toEqual([{ text: support, url }]);

    await setSuspended(withLink.audit, partnerId, true);
    const home = await owner.writes('/menu', suspended);
    expect(home.text).toContain(url);
    expect(home.message.keyboard[0]).toEqual([{ text: support, url }]);
    const qr = await owner.writes('https://qr.nspk.ru/AD10004MV5CJ3D638358RO81129CE63P', suspended);
    expect(qr.text).toContain(url);
    expect(qr.message.keyboard[0]).toEqual([{ text: support, url }]);
  });

  test('an e-mail address is in the text: Telegram takes none for a button', async () => {
    const { owner, partnerId } = await withMail.ownerOf('Mailed', language);
    await setSuspended(withMail.audit, partnerId, true);
    const home = await owner.writes('/menu', suspended);
    expect(home.text).toMatch(/: help@kopeck\.example/);
    expect(home.buttons.flat()).not.toContain(support);
  });

  test('without SUPPORT_URL nobody is sent to support, and every text says what to do', async () => {
    const { owner, partnerId } = await without.ownerOf('Alone', language);
    await refuseLive(without.audit, partnerId);
    const refused = await owner.reads(/not approved|не одобрен/);
    expect(refused.text).toMatch(/If it is approved later|Если его одобрят позже/);
    await approveLive(without.audit, partnerId);
    await owner.writes('/menu', /Alone/);
    const { text, buttons } = await owner.goes([balance, onBalance], [topUp, noAddress]);
    expect(buttons.flat()).not.toContain(support);
    expect(text).toMatch(/Come back later|Загляните позже/);
    await setSuspended(without.audit, partnerId, true);
    const home = await owner.writes('/menu', suspended);
    expect(home.text).toMatch(/will be completed|завершатся/);
    for (const { text: said } of owner.messages) expect(said).not.toMatch(aboutSupport);
  });
});
