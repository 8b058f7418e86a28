import { Command } from 'commander';
import {
  blockRecipient,
  cancelMaintenance,
  isUnderMaintenance,
  listBlockedRecipients,
  listMaintenance,
  planMaintenance,
  setMaintenance,
  unblockRecipient,
} from '../controls/index.ts';
import { instant, label, positiveCount } from './arguments.ts';
import { type CommandContext, command, type WithDatabase } from './command.ts';
import { formatInstant, type Output, table } from './output.ts';
import { RefusedError } from './refused.ts';

export function recipientCommands(withDatabase: WithDatabase): Command {
  return new Command('recipient')
    .description('block and unblock recipients')
    .addCommand(
      command('block', 'refuse payments to a recipient')
        .argument('<id-or-name>', 'as the bank side names it', label)
        .action((recipient, { json }) =>
          withDatabase(json, async ({ audit }) => {
            const outcome = await blockRecipient(audit, recipient);
            const before = outcome === 'already_blocked' ? 'already ' : '';
            return { json: { recipient, blocked: true }, text: `"${recipient}" is ${before}blocked.` };
          }),
        ),
    )
    .addCommand(
      command('unblock', 'accept payments to a recipient again')
        .argument('<id-or-name>', 'as it was blocked', label)
        .action((recipient, { json }) =>
          withDatabase(json, async ({ audit }) => {
            const outcome = await unblockRecipient(audit, recipient);
            if (outcome === 'not_blocked') {
              throw new RefusedError(outcome, `"${recipient}" is not blocked: see kopeck recipient list.`);
            }
            return { json: { recipient, blocked: false }, text: `"${recipient}" is no longer blocked.` };
          }),
        ),
    )
    .addCommand(
      command('list', 'list blocked recipients').action(({ json }) =>
        withDatabase(json, async ({ audit }) => {
          const blocked = await listBlockedRecipients(audit.pool);
          return {
            json: {
              recipients: blocked.map(({ recipient, blockedAt }) => ({
                recipient,
                blocked_at: blockedAt.toISOString(),
              })),
            },
            text: table(
              ['recipient', 'blocked (UTC)'],
              blocked.map(({ recipient, blockedAt }) => [recipient, formatInstant(blockedAt)]),
            ),
          };
        }),
      ),
    );
}

export function maintenanceCommands(withDatabase: WithDatabase): Command {
  return new Command('maintenance')
    .description('pause and resume the acceptance of payments')
    .addCommand(
      command('on', 'refuse new payments; those under way go on').action(({ json }) =>
        withDatabase(json, context => switchMaintenance(context, true)),
      ),
    )
    .addCommand(
      command('off', 'accept payments again').action(({ json }) =>
        withDatabase(json, context => switchMaintenance(context, false)),
      ),
    )
    .addCommand(
      command('plan', 'pause by itself from one time until another; partners are told in the bot now')
        .requiredOption('--from <time>', 'such as 2026-11-15T22:00:00Z', instant)
        .requiredOption('--until <time>', 'such as 2026-11-15T23:00:00Z', instant)
        .action(({ json, from, until }) =>
          withDatabase(json, async ({ audit }) => {
            const plan = await planMaintenance(audit, { from, until });
            switch (plan.outcome) {
              case 'planned': {
                const times = `from ${formatInstant(from)} until ${formatInstant(until)} UTC`;
                return {
                  json: {
                    window_id: Number(plan.windowId),
                    from: from.toISOString(),
                    until: until.toISOString(),
                  },
                  text: `Partners are told, and no payments are accepted ${times}: it begins and ends by itself.\nTo call it off: kopeck maintenance cancel ${plan.windowId}`,
                };
              }
              case 'until_before_from':
                throw new RefusedError(plan.outcome, 'It would end before it begins.');
              case 'over_already':
                throw new RefusedError(plan.outcome, 'It would be over already.');
              case 'too_long':
                throw new RefusedError(plan.outcome, 'It lasts a week at the most: check the years.');
            }
          }),
        ),
    )
    .addCommand(
      command('list', 'what is planned, and what is open').action(({ json }) =>
        withDatabase(json, async ({ audit }) => {
          const windows = await listMaintenance(audit.pool, audit.clock);
          return {
            json: {
              windows: windows.map(({ windowId, from, until, plannedBy }) => ({
                window_id: Number(windowId),
                from: from.toISOString(),
                until: until.toISOString(),
                planned_by: plannedBy,
              })),
            },
            text: table(
              ['window', 'from (UTC)', 'until (UTC)', 'planned by'],
              windows.map(({ windowId, from, until, plannedBy }) => [
                `${windowId}`,
                formatInstant(from),
                formatInstant(until),
                plannedBy,
              ]),
            ),
          };
        }),
      ),
    )
    .addCommand(
      command('cancel', 'call off what is planned, or end what is open; partners are told')
        .argument('<window>', 'its number in the list', positiveCount)
        .action((window, { json }) =>
          withDatabase(json, async ({ audit }) => {
            if ((await cancelMaintenance(audit, BigInt(window))) === 'no_window') {
              const message = `No window ${window} is planned or open: see kopeck maintenance list.`;
              throw new RefusedError('no_window', message);
            }
            return { json: { window_id: window, cancelled: true }, text: `Window ${window} is called off.` };
          }),
        ),
    );
}

async function switchMaintenance({ audit }: CommandContext, on: boolean): Promise<Output> {
  await setMaintenance(audit, on);
  const maintenance = await isUnderMaintenance(audit.pool, audit.clock);
  return { json: { maintenance }, text: `Maintenance is ${maintenance ? 'on' : 'off'}.` };
}
