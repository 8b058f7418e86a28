import { programName } from '../base/program-name.ts';
import type { Pool } from '../db/postgres/index.ts';
import { type LiveProcess, listLiveProcesses } from '../db/processes/index.ts';
import * as secrets from '../db/secrets/index.ts';
import { addSigningRoot, keySetPath, listSigningRoots } from '../webhooks/index.ts';
import { positiveCount } from './arguments.ts';
import { type Context, type DatabaseCommand, group } from './command.ts';
import { formatInstant, lateProgressBar, listing, refuse, table } from './output.ts';

export const secretCommands = (command: DatabaseCommand) =>
  group('secret', 'replace SECRET_KEY', [
    command(
      'status',
      'show what each secret key still protects, and whether an earlier one can go',
      showStatus,
    ),
    command(
      'rotate',
      'make SECRET_KEY the key in use and re-encrypt what earlier keys protect',
      rotate,
    ).option('--batch <count>', 'how many values to re-encrypt in one transaction', positiveCount, 100),
    command(
      'signing-keys',
      'list the root keys, from which the keys that sign webhooks are derived',
      signingKeys,
    ).option('--rotate', 'add a new one first; its keys sign after a minute'),
  ]);

/** Public keys are those of a partner and mode, and anybody can read them there. */
async function signingKeys({ audit, keyring }: Context, { rotate: rotates }: { rotate?: boolean }) {
  if (rotates) await addSigningRoot(audit, keyring);
  const roots = await listSigningRoots(audit.pool);
  const path = keySetPath({ partnerId: '{partner_id}', mode: '{mode}' });
  const keys = roots.map(({ keyId, createdAt, signsFrom }) => ({
    key_id: keyId,
    created_at: createdAt.toISOString(),
    signs_from: signsFrom.toISOString(),
  }));
  const shown = listing({ path, keys }, 'keys', { 'root key': 'key_id', 'signs from (UTC)': 'signs_from' });
  return { ...shown, text: `${shown.text}\nThe public keys of a partner are at ${path}.` };
}

const numbersOf = (processes: LiveProcess[]) => processes.map(({ instance }) => instance).join(', ');

async function rotate({ audit, keyring, terminal }: Context, { batch }: { batch: number }) {
  const result = await secrets.switchKeyWhenEnded(audit, keyring);
  if (result.outcome === 'processes_lack_key')
    refuse(
      'processes_lack_key',
      `${result.processes.length} running processes do not have this SECRET_KEY (${numbersOf(result.processes)}): restart them with the new SECRET_KEY and the old one in SECRET_KEY_PREVIOUS, then run this again. Nothing was changed.`,
    );
  const late = await secrets.findStragglers(audit.pool, audit.clock, keyring);
  if (late.length > 0)
    refuse(
      'processes_lag',
      `${late.length} processes still use the earlier key (${numbersOf(late)}): check that they reach the database, then run this again.`,
    );
  const { resealed, unreadable } = await secrets.resealAll(audit, keyring, {
    batch,
    onProgress: lateProgressBar(terminal.stderr, 'values'),
  });
  const status = await readStatus(audit.pool, keyring);
  const first =
    result.outcome === 'switched'
      ? `The key in use is now ${result.to}; before, it was ${result.from}.`
      : `The key in use is ${keyring.active().id}.`;
  const lost = unreadable.map(({ what, id }) => `No key opens one of the ${what} of ${id}: set a new one.`);
  return {
    json: { switched: result.outcome === 'switched', resealed, unreadable, ...objectOf(status) },
    text: [first, `Re-encrypted: ${resealed}.`, ...lost, verdictOf(status)].join('\n'),
    isBad: unreadable.length > 0,
  };
}

type Status = Awaited<ReturnType<typeof readStatus>>;

const maxListed = 50;

const readStatus = async (pool: Pool, keyring: secrets.Keyring) => ({
  activeId: keyring.active().id,
  /** SECRET_KEY of this command. */
  ownId: keyring.keys[0]!.id,
  keys: await secrets.listSecretKeys(pool),
  counts: await secrets.countValues(pool),
  processes: await listLiveProcesses(pool),
  keysLeft: await secrets.listKeysLeft(pool, keyring.active().id, maxListed),
});

const kinds = ['API keys', 'webhook secrets', 'one-time code secrets'] as const;

const knownTo = ({ processes }: Status, keyId: string) =>
  processes.filter(({ keyIds }) => keyIds?.includes(keyId)).length;

const countOf = ({ counts }: Status, keyId: string, what: (typeof kinds)[number]) =>
  counts.find(one => one.keyId === keyId && one.what === what)?.count ?? 0;

function leftOf(status: Status) {
  const ofOthers = status.counts.filter(({ keyId }) => keyId !== status.activeId);
  const sum = (of: secrets.ValueCount[]) => of.reduce((total, { count }) => total + count, 0);
  const isApiKey = ({ what }: secrets.ValueCount) => what === 'API keys';
  return {
    apiKeys: sum(ofOthers.filter(isApiKey)),
    sealed: sum(ofOthers.filter(value => !isApiKey(value))),
    processes: status.processes.filter(({ sealingKey }) => sealingKey !== status.activeId),
  };
}

function verdictOf(status: Status): string {
  const { apiKeys, sealed, processes } = leftOf(status);
  if (status.ownId !== status.activeId) {
    return `SECRET_KEY (${status.ownId}) is not in use yet. ${knownTo(status, status.ownId)} of ${status.processes.length} processes have it: when all do, run ${programName} secret rotate.`;
  }
  if (sealed > 0)
    return `Keep the earlier key: run ${programName} secret rotate, ${sealed} values still need it.`;
  if (processes.length > 0) return `Keep the earlier key: processes ${numbersOf(processes)} still use it.`;
  if (apiKeys > 0)
    return `Keep the earlier key: ${apiKeys} API keys were not used since. Each changes over at its next use; revoke those that nobody needs.`;
  const earlier = status.keys.filter(({ keyId }) => keyId !== status.activeId);
  return earlier.length === 0
    ? 'There is no earlier key. How to replace the one in use: docs/operations/secret-key.md'
    : 'SECRET_KEY_PREVIOUS can go. Keep the earlier key with the backups made before the change: to restore one, it is needed again.';
}

const objectOf = (status: Status) => {
  const { apiKeys, sealed, processes } = leftOf(status);
  return {
    key_in_use: status.activeId,
    keys: status.keys.map(({ keyId, activeFrom, activeUntil }) => ({
      key: keyId,
      in_use_from: activeFrom,
      in_use_until: activeUntil,
      api_keys: countOf(status, keyId, 'API keys'),
      webhook_secrets: countOf(status, keyId, 'webhook secrets'),
      one_time_code_secrets: countOf(status, keyId, 'one-time code secrets'),
      processes: knownTo(status, keyId),
    })),
    processes: status.processes.length,
    api_keys_left: status.keysLeft.map(({ apiKeyId, partner, mode, lastUsedAt }) => ({
      key_id: apiKeyId,
      partner,
      mode,
      last_used_at: lastUsedAt,
    })),
    previous_can_go: status.ownId === status.activeId && apiKeys + sealed + processes.length === 0,
  };
};

async function showStatus({ audit, keyring }: Context) {
  const status = await readStatus(audit.pool, keyring);
  const keys = table(status.keys, ({ keyId, activeFrom }) => ({
    key: keyId,
    'in use': keyId === status.activeId ? 'yes' : 'no',
    'since (UTC)': activeFrom ?? 'the beginning',
    ...Object.fromEntries(kinds.map(kind => [kind, countOf(status, keyId, kind)])),
    'known to': `${knownTo(status, keyId)} of ${status.processes.length} processes`,
  }));
  const left = table(status.keysLeft, key => ({
    'API key': key.apiKeyId,
    partner: key.partner,
    mode: key.mode,
    'last used (UTC)': formatInstant(key.lastUsedAt),
  }));
  const lines = [keys, ...(status.keysLeft.length > 0 ? ['', left] : []), '', verdictOf(status)];
  return { json: objectOf(status), text: lines.join('\n') };
}
