import { InputFile } from 'grammy';
import { type DepositAddress, openAddresses } from '../../../deposits/index.ts';
import { drawQrCode } from '../../images/qr-code.ts';
import { callbackData, type PartnerContext, show } from '../chat-context.ts';
import { type Button, keyboardOf } from '../screen.ts';

/** Where to send USDT: of the chosen chain, or of the only one. Without chains support gives the address. */
export async function showTopUp(chat: PartnerContext, chosen?: string): Promise<void> {
  const { texts, deps, partner } = chat;
  const back = [{ text: texts.back, data: callbackData('b', partner) }];
  const addresses = await openAddresses(deps.pool, deps.clock, deps.chains, partner.partnerId);
  const address =
    addresses.length === 1 ? addresses[0] : addresses.find(({ chain }) => chain.name === chosen);
  if (address) return showAddress(chat, address, back);
  if (addresses.length === 0)
    return show(chat, { text: texts.balance.howToTopUp(partner.partnerId), buttons: [back] });
  const networks = addresses.map(({ chain }) => [
    { text: chain.title, data: callbackData('bt', partner, chain.name) },
  ]);
  return show(chat, { text: texts.balance.chooseNetwork, buttons: [...networks, back] });
}

async function showAddress(
  { texts, api, chatId }: PartnerContext,
  found: DepositAddress,
  back: Button[],
): Promise<void> {
  const picture = await drawQrCode(found.address);
  await api.sendPhoto(chatId, new InputFile(picture, 'address.png'), {
    caption: texts.balance.sendTo(found),
    parse_mode: 'HTML',
    reply_markup: keyboardOf([back]),
  });
}
