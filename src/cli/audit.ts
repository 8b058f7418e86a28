import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { programName } from '../base/program-name.ts';
import * as auditLog from '../db/audit/index.ts';
import { chainHead } from './arguments.ts';
import { type Context, type DatabaseCommand, group } from './command.ts';
import { refuse } from './output.ts';

export const auditCommands = (command: DatabaseCommand) =>
  group('audit', 'verify and export the audit log', [
    command('verify', 'prove that no record of the audit log was changed, removed or added', verify).option(
      '--head <place:hash>',
      'a head from the log of the service, to find records cut off at the end',
      chainHead,
    ),
    command('export', 'write the audit log to a file that others can verify', exportTo).requiredOption(
      '--to <file>',
      'a new file; one JSON object per line',
    ),
  ]);

const lost = `removed at the end, or lost in a restore or fail-over of the database (see ${programName} recovery show)`;

const describe: {
  [Fault in auditLog.ChainFault['fault']]: (fault: Extract<auditLog.ChainFault, { fault: Fault }>) => string;
} = {
  changed: ({ auditId, place }) => `Record ${auditId} (place ${place}) is not the one that was written.`,
  removed: ({ auditId, place }) => `Record ${auditId} (place ${place}) was removed.`,
  gap: ({ place }) => `Place ${place} of the chain was removed.`,
  removed_before: ({ auditId }) => `Record ${auditId} was removed before it got a place in the chain.`,
  not_chained: ({ auditId }) => `Record ${auditId} was added without a place in the chain.`,
  shorter_than_head: ({ place }) =>
    `The chain ends before place ${place} of a head that has left the database: records were ${lost}.`,
  other_than_head: ({ place }) =>
    `Place ${place} has another hash than a head that has left the database: earlier records were changed, or ${lost}.`,
};

async function verify({ audit, settings }: Context, { head: given }: { head?: auditLog.ChainHead }) {
  await auditLog.extendChain(audit.pool);
  const heads = auditLog.openAuditHeads(settings);
  const kept = (await heads?.list()) ?? [];
  const { head, fault } = await auditLog.verifyChain(audit.pool, [...(given ? [given] : []), ...kept]);
  const compared = heads ? { kept_heads: kept.length } : {};
  if (!fault)
    return {
      json: { ok: true, records: head.place, head: auditLog.formatHead(head), ...compared },
      text: [
        `The audit log is intact: ${head.place} records.`,
        ...(heads ? [`It contains all ${kept.length} heads in ${heads.address}.`] : []),
        `Head: ${auditLog.formatHead(head)}`,
      ].join('\n'),
    };
  const problem = describe[fault.fault](fault as never);
  return {
    json: { ok: false, records_before: head.place, ...fault, problem, ...compared },
    // A chain that was written anew is intact in itself: only the head shows that it is another one.
    text: fault.fault.endsWith('_than_head')
      ? problem
      : `${problem}\nThe ${head.place} records before it are intact.`,
    isBad: true,
  };
}

async function exportTo({ audit }: Context, { to: file }: { to: string }) {
  await auditLog.extendChain(audit.pool);
  // Others may add records meanwhile: the file and the printed head must agree.
  const head = await auditLog.readHead(audit.pool);
  try {
    const out = createWriteStream(file, { flags: 'wx', mode: 0o600, flush: true });
    await pipeline(Readable.from(auditLog.exportChain(audit.pool, head)), out);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (!code || !/^E[A-Z]+$/.test(code)) throw error;
    refuse('file', `The file cannot be written (${message}): choose another one with --to.`);
  }
  return {
    json: { file, records: head.place, head: auditLog.formatHead(head) },
    text: `Exported ${head.place} records to ${file}.\nHead: ${auditLog.formatHead(head)}`,
  };
}
