import type { Api, Context } from 'grammy';
import { clearAlarm, pageOfAlarm, parseAlarmId } from '../../alarms/index.ts';
import { parseId } from '../../base/ids.ts';
import { approveLive, refuseLive } from '../../partners/index.ts';
import { clip, escapeHtml as e, type Screen } from '../conversation/screen.ts';
import type { BotDeps } from '../deps.ts';
import type { Task } from './outbox.ts';

/** A message of Telegram holds 4 096 characters. */
const maxDetailLength = 2_000;

type StaffTask = Extract<Task, { do: 'alarm' | 'approval' }>;

/** In English, as the logs and the command line are; the link opens the console where staff can act. */
export function staffScreen(task: StaffTask, publicUrl: string): Screen {
  const open = (path: string) => `<a href="${e(`${publicUrl}/console${path}`)}">Open in the console</a>`;
  if (task.do === 'approval')
    return {
      text: `🆕 <b>${e(task.name)}</b> signed up (<code>${task.partnerId}</code>) and requests live mode.\n${open(`/partners/${task.partnerId}`)}`,
      buttons: [
        [
          { text: 'Approve', data: `approve:${task.partnerId}` },
          { text: 'Reject', data: `refuse:${task.partnerId}` },
        ],
      ],
    };
  const { subject } = task;
  const page = pageOfAlarm(task, undefined) ?? '/alarms';
  const detail = e(clip(task.detail, maxDetailLength));
  return {
    text: `🚨 <b>${e(task.kind)}</b> ${e(subject)}\n${detail}\n${open(page)}`,
    buttons: [[{ text: 'Clear', data: `clear:${task.alarmId}` }]],
  };
}

type StaffAction = (deps: BotDeps, actor: string, subject: string) => Promise<string>;

const decide =
  (decision: typeof approveLive, done: string): StaffAction =>
  async ({ pool, clock }, actor, subject) => {
    const partnerId = parseId('prt', subject);
    const result = partnerId && (await decision({ pool, clock, actor }, partnerId));
    if (!result || result.outcome === 'no_partner') return 'There is no such partner.';
    return result.outcome === 'done'
      ? `${result.partner.name} ${done}.`
      : 'The partner was already approved.';
  };

const actions: Record<string, StaffAction> = {
  approve: decide(approveLive, 'can now create live keys'),
  refuse: decide(refuseLive, 'stays in test mode'),
  clear: async ({ pool, clock }, actor, subject) => {
    const alarmId = parseAlarmId(subject);
    const outcome = alarmId === undefined ? 'no_alarm' : await clearAlarm({ pool, clock, actor }, alarmId);
    return outcome === 'cleared' ? 'Alarm cleared.' : 'The alarm was already cleared.';
  },
};

/** A callback query from the staff chat: every member of that chat may act, and is the actor in the audit. */
export async function handleStaffCallback(deps: BotDeps, api: Api, context: Context): Promise<string> {
  const { from, data = '', message } = context.callbackQuery!;
  const [name = '', subject = ''] = data.split(':');
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (!action || !message) return 'This button does not work here.';
  const result = await action(deps, `telegram:${from.id}`, subject);
  const text = 'text' in message && message.text ? `${e(message.text)}\n\n` : '';
  const by = `${e(result)} <i>(${e(from.first_name)})</i>`;
  // If two press at once, the edit of the second fails; the result of the first stays visible.
  await api
    .editMessageText(message.chat.id, message.message_id, `${text}${by}`, { parse_mode: 'HTML' })
    .catch(() => {});
  return result;
}
