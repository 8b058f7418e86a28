import { programName } from '../base/program-name.ts';
import { blockRecipient, listBlockedRecipients, unblockRecipient } from '../controls/index.ts';
import { label } from './arguments.ts';
import { type CommandContext, command, group, type WithDatabase } from './command.ts';
import { type Output, table } from './output.ts';
import { RefusedError } from './refused.ts';

export const recipientCommands = (withDatabase: WithDatabase) =>
  group('recipient', 'block and unblock recipients', [
    command('block', 'block payments to a recipient')
      .argument('<id-or-name>', 'as the payment gateway names it', label)
      .action(withDatabase(block)),
    command('unblock', 'allow payments to a recipient again')
      .argument('<id-or-name>', 'as it was blocked', label)
      .action(withDatabase(unblock)),
    command('list', 'list blocked recipients').action(withDatabase(listBlocked)),
  ]);

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
    text: table(blocked, ({ recipient, blockedAt }) => ({ recipient, 'blocked (UTC)': blockedAt })),
  };
}
