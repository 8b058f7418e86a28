import { Command } from 'commander';
import { programName } from '../base/program-name.ts';
import { blockRecipient, listBlockedRecipients, unblockRecipient } from '../controls/index.ts';
import { label } from './arguments.ts';
import { type CommandContext, command, type WithDatabase } from './command.ts';
import { formatInstant, type Output, table } from './output.ts';
import { RefusedError } from './refused.ts';

export function recipientCommands(withDatabase: WithDatabase): Command {
  return new Command('recipient')
    .description('block and unblock recipients')
    .addCommand(
      command('block', 'block payments to a recipient')
        .argument('<id-or-name>', 'as the payment gateway names it', label)
        .action((recipient, { json }) => withDatabase(json, context => block(context, recipient))),
    )
    .addCommand(
      command('unblock', 'allow payments to a recipient again')
        .argument('<id-or-name>', 'as it was blocked', label)
        .action((recipient, { json }) => withDatabase(json, context => unblock(context, recipient))),
    )
    .addCommand(
      command('list', 'list blocked recipients').action(({ json }) => withDatabase(json, listBlocked)),
    );
}

async function block({ audit }: CommandContext, recipient: string): Promise<Output> {
  const outcome = await blockRecipient(audit, recipient);
  const before = outcome === 'already_blocked' ? 'already ' : '';
  return { json: { recipient, blocked: true }, text: `"${recipient}" is ${before}blocked.` };
}

async function unblock({ audit }: CommandContext, recipient: string): Promise<Output> {
  const outcome = await unblockRecipient(audit, recipient);
  if (outcome === 'not_blocked') {
    throw new RefusedError(outcome, `"${recipient}" is not blocked: see ${programName} recipient list.`);
  }
  return { json: { recipient, blocked: false }, text: `"${recipient}" is no longer blocked.` };
}

async function listBlocked({ audit }: CommandContext): Promise<Output> {
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
}
