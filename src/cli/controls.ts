import { Command } from 'commander';
import {
  blockRecipient,
  isUnderMaintenance,
  listBlockedRecipients,
  planMaintenance,
  setMaintenance,
  unblockRecipient,
} from '../controls/index.ts';
import { instant, label } from './arguments.ts';
import { atWork, command, type Workplace } from './command.ts';
import { formatInstant, type Output, table } from './output.ts';
import { RefusedError } from './refused.ts';

export function recipientCommands(): Command {
  return new Command('recipient')
    .description('block and unblock recipients')
    .addCommand(
      command('block', 'refuse payments to a recipient')
        .argument('<id-or-name>', 'as the bank side names it', label)
        .action((recipient, { json }) =>
          atWork(json, async ({ desk }) => {
            const outcome = await blockRecipient(desk, recipient);
            const before = outcome === 'already_blocked' ? 'already ' : '';
            return { json: { recipient, blocked: true }, text: `"${recipient}" is ${before}blocked.` };
          }),
        ),
    )
    .addCommand(
      command('unblock', 'accept payments to a recipient again')
        .argument('<id-or-name>', 'as it was blocked', label)
        .action((recipient, { json }) =>
          atWork(json, async ({ desk }) => {
            const outcome = await unblockRecipient(desk, recipient);
            if (outcome === 'not_blocked') {
              throw new RefusedError(outcome, `"${recipient}" is not blocked: see kopeck recipient list.`);
            }
            return { json: { recipient, blocked: false }, text: `"${recipient}" is no longer blocked.` };
          }),
        ),
    )
    .addCommand(
      command('list', 'list blocked recipients').action(({ json }) =>
        atWork(json, async ({ desk }) => {
          const blocked = await listBlockedRecipients(desk.pool);
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

export function maintenanceCommands(): Command {
  return new Command('maintenance')
    .description('pause and resume the acceptance of payments')
    .addCommand(
      command('on', 'refuse new payments; those under way go on').action(({ json }) =>
        atWork(json, workplace => switchMaintenance(workplace, true)),
      ),
    )
    .addCommand(
      command('off', 'accept payments again').action(({ json }) =>
        atWork(json, workplace => switchMaintenance(workplace, false)),
      ),
    )
    .addCommand(
      command('plan', 'tell partners in the bot when it will be')
        .requiredOption('--from <time>', 'such as 2026-11-15T22:00:00Z', instant)
        .requiredOption('--until <time>', 'such as 2026-11-15T23:00:00Z', instant)
        .action(({ json, from, until }) =>
          atWork(json, async ({ desk }) => {
            if (until <= from) throw new RefusedError('until_before_from', 'It would end before it begins.');
            await planMaintenance(desk, { from, until });
            const text = `Partners are told: from ${formatInstant(from)} until ${formatInstant(until)} UTC.`;
            return { json: { from: from.toISOString(), until: until.toISOString() }, text };
          }),
        ),
    );
}

async function switchMaintenance({ desk }: Workplace, on: boolean): Promise<Output> {
  await setMaintenance(desk, on);
  const maintenance = await isUnderMaintenance(desk.pool);
  return { json: { maintenance }, text: `Maintenance is ${maintenance ? 'on' : 'off'}.` };
}
