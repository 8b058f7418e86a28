import type { Api, Context } from 'grammy';
import { clearAlarm, pageOfAlarm, parseAlarmId, titleOfAlarm } from '../../alarms/index.ts';
import { parseId } from '../../base/ids.ts';
import { approveLive, refuseLive } from '../../partners/index.ts';
import { clip, escapeHtml as e, type Screen } from '../conversation/screen.ts';
import type { BotDeps } from '../deps.ts';
import { type Texts, textsByLanguage } from '../texts/index.ts';
import type { Task } from './outbox.ts';

/** A message of Telegram holds 4 096 characters. */
const maxDetailLength = 2_000;

type StaffTask = Extract<Task, { do: 'alarm' | 'approval' }>;

/** In the language of staff, but for the detail of an alarm, which is English; the link opens the console where staff can act. */
export function staffScreen(
  task: StaffTask,
  { publicUrl, telegramStaffLanguage: language }: Pick<BotDeps, 'publicUrl' | 'telegramStaffLanguage'>,
): Screen {
  const { staff } = textsByLanguage[language];
  const open = (path: string) => `<a href="${e(`${publicUrl}/console${path}`)}">${staff.open}</a>`;
  if (task.do === 'approval')
    return {
      text: `🆕 ${staff.signedUp(task.name, task.partnerId)}\n${open(`/partners/${task.partnerId}`)}`,
      buttons: [
        [
          { text: staff.approve, data: `approve:${task.partnerId}` },
          { text: staff.refuse, data: `refuse:${task.partnerId}` },
        ],
      ],
    };
  const page = pageOfAlarm(task, undefined) ?? '/alarms';
  const detail = e(clip(task.detail, maxDetailLength));
  return {
    text: `🚨 <b>${e(titleOfAlarm(task.kind)[language])}</b>\n<code>${e(task.kind)}</code> ${e(task.subject)}\n${detail}\n${open(page)}`,
    buttons: [[{ text: staff.clear, data: `clear:${task.alarmId}` }]],
  };
}

type StaffAction = (deps: BotDeps, staff: Texts['staff'], actor: string, subject: string) => Promise<string>;

const decide =
  (decision: typeof approveLive, done: 'approved' | 'refused'): StaffAction =>
  async ({ pool, clock }, staff, actor, subject) => {
    const partnerId = parseId('prt', subject);
    const result = partnerId && (await decision({ pool, clock, actor }, partnerId));
    if (!result || result.outcome === 'no_partner') return staff.noPartner;
    return result.outcome === 'done' ? staff[done](result.partner.name) : staff.wasApproved;
  };

const actions: Record<string, StaffAction> = {
  approve: decide(approveLive, 'approved'),
  refuse: decide(refuseLive, 'refused'),
  clear: async ({ pool, clock }, staff, actor, subject) => {
    const alarmId = parseAlarmId(subject);
    const outcome = alarmId === undefined ? 'no_alarm' : await clearAlarm({ pool, clock, actor }, alarmId);
    return outcome === 'cleared' ? staff.cleared : staff.wasCleared;
  },
};

/** A callback query from the staff chat: every member of that chat may act, and is the actor in the audit. */
export async function handleStaffCallback(deps: BotDeps, api: Api, context: Context): Promise<string> {
  const { from, data = '', message } = context.callbackQuery!;
  const [name = '', subject = ''] = data.split(':');
  const { staff } = textsByLanguage[deps.telegramStaffLanguage];
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (!action || !message) return staff.noAction;
  const result = await action(deps, staff, `telegram:${from.id}`, subject);
  const text = 'text' in message && message.text ? `${e(message.text)}\n\n` : '';
  const by = `${e(result)} <i>(${e(from.first_name)})</i>`;
  // If two press at once, the edit of the second fails; the result of the first stays visible.
  await api
    .editMessageText(message.chat.id, message.message_id, `${text}${by}`, { parse_mode: 'HTML' })
    .catch(() => {});
  return result;
}
