import { programName } from '../base/program-name.ts';
import * as controls from '../controls/index.ts';
import { instant, label, positiveCount } from './arguments.ts';
import { type Context, type DatabaseCommand, group } from './command.ts';
import { formatInstant, listing, refuse } from './output.ts';

export const maintenanceCommands = (command: DatabaseCommand) =>
  group('maintenance', 'pause and resume new payments', [
    command('on', 'stop accepting new payments; payments in progress continue', context =>
      switchMaintenance(context, true),
    ),
    command('off', 'accept payments again', context => switchMaintenance(context, false)),
    command('plan', 'schedule a maintenance window and notify partners in the bot now', plan)
      .requiredOption('--from <time>', 'such as 2026-11-15T22:00:00Z', instant)
      .requiredOption('--until <time>', 'such as 2026-11-15T23:00:00Z', instant),
    command('list', 'list maintenance windows', listWindows),
    command(
      'cancel',
      'cancel a scheduled window or end an active one; partners are notified',
      cancel,
    ).argument('<window>', 'window number from the list', positiveCount),
  ]);

async function switchMaintenance({ audit }: Context, on: boolean) {
  await controls.setMaintenance(audit, on);
  const maintenance = await controls.isUnderMaintenance(audit.pool, audit.clock);
  return { json: { maintenance }, text: `Maintenance is ${maintenance ? 'on' : 'off'}.` };
}

async function plan({ audit }: Context, window: { from: Date; until: Date }) {
  const { from, until } = window;
  const planned = await controls.planMaintenance(audit, window);
  if (planned.outcome !== 'planned') refuse(planned.outcome, planRefusals[planned.outcome]);
  const times = `from ${formatInstant(from)} until ${formatInstant(until)} UTC`;
  return {
    json: { window_id: Number(planned.windowId), from: from.toISOString(), until: until.toISOString() },
    text: `Maintenance is scheduled ${times}, and partners are notified. It starts and ends automatically.\nTo cancel it: ${programName} maintenance cancel ${planned.windowId}`,
  };
}

const planRefusals = {
  until_before_from: 'The end must be after the start.',
  over_already: 'The end is in the past.',
  too_long: 'A window can last at most a week: check the dates.',
};

async function listWindows({ audit }: Context) {
  const found = await controls.listMaintenance(audit.pool, audit.clock);
  const windows = found.map(({ windowId, from, until, plannedBy }) => ({
    window_id: Number(windowId),
    from: from.toISOString(),
    until: until.toISOString(),
    planned_by: plannedBy,
  }));
  return listing({ windows }, 'windows', {
    window: 'window_id',
    'from (UTC)': 'from',
    'until (UTC)': 'until',
    'scheduled by': 'planned_by',
  });
}

async function cancel({ audit }: Context, window: number) {
  if ((await controls.cancelMaintenance(audit, BigInt(window))) === 'no_window') {
    const message = `There is no scheduled or active window ${window}: see ${programName} maintenance list.`;
    refuse('no_window', message);
  }
  return { json: { window_id: window, cancelled: true }, text: `Window ${window} is cancelled.` };
}

export const recipientCommands = (command: DatabaseCommand) =>
  group('recipient', 'block and unblock recipients', [
    command('block', 'block payments to a recipient', block).argument(
      '<id-or-name>',
      'as the payment gateway names it',
      label,
    ),
    command('unblock', 'allow payments to a recipient again', unblock).argument(
      '<id-or-name>',
      'as it was blocked',
      label,
    ),
    command('list', 'list blocked recipients', listBlocked),
  ]);

async function block({ audit }: Context, recipient: string) {
  const outcome = await controls.blockRecipient(audit, recipient);
  const before = outcome === 'already_blocked' ? 'already ' : '';
  return { json: { recipient, blocked: true }, text: `"${recipient}" is ${before}blocked.` };
}

async function unblock({ audit }: Context, recipient: string) {
  const outcome = await controls.unblockRecipient(audit, recipient);
  if (outcome === 'not_blocked') {
    refuse(outcome, `"${recipient}" is not blocked: see ${programName} recipient list.`);
  }
  return { json: { recipient, blocked: false }, text: `"${recipient}" is no longer blocked.` };
}

async function listBlocked({ audit }: Context) {
  const recipients = (await controls.listBlockedRecipients(audit.pool)).map(({ recipient, blockedAt }) => ({
    recipient,
    blocked_at: blockedAt.toISOString(),
  }));
  return listing({ recipients }, 'recipients', { recipient: 'recipient', 'blocked (UTC)': 'blocked_at' });
}
