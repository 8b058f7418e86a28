import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { AuthenticationError, Kopeck } from '../../sdk/src/index.ts';

/** Creates what you would get from the bot, with the command line of the service in its own folder. */
const program = join(import.meta.dirname, '..', '..', 'src', 'cli', 'main.js');

async function kopeckCli<Answer>(...args: string[]): Promise<Answer> {
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...args, '--json']);
  return JSON.parse(stdout) as Answer;
}

export interface Access {
  partnerId: string;
  key: string;
}

const partnerName = 'Example shop';

/** The key of the last run if it still works; otherwise a new one. */
export async function findTestKey(path: string, baseUrl: string): Promise<Access> {
  const kept: Access = await readFile(path, 'utf8').then(JSON.parse, () => ({ partnerId: '', key: 'none' }));
  // Called even without a key: if the service is down, fail before anything is created.
  if (await isGood(kept.key, baseUrl)) return kept;
  type Partner = { partner_id: string; name: string };
  const { partners } = await kopeckCli<{ partners: Partner[] }>('partner', 'list');
  const partner =
    partners.find(({ name }) => name === partnerName) ??
    (await kopeckCli<Partner>('partner', 'create', '--name', partnerName));
  const partnerId = partner.partner_id;
  const { key } = await kopeckCli<{ key: string }>('key', 'create', partnerId, '--mode', 'test');
  await writeFile(path, JSON.stringify({ partnerId, key }), { mode: 0o600 });
  return { partnerId, key };
}

async function isGood(key: string, baseUrl: string): Promise<boolean> {
  try {
    await new Kopeck({ apiKey: key, baseUrl, maxRetries: 0 }).ping();
    return true;
  } catch (error) {
    if (error instanceof AuthenticationError) return false;
    throw error;
  }
}

/** Registers the shop's webhook URL; the answer is the signing secret. */
export async function setWebhook(partnerId: string, url: string): Promise<string> {
  const { secret } = await kopeckCli<{ secret: string }>('webhook', 'set', partnerId, '--url', url);
  return secret;
}

/** Checks the receiver as the service does. A webhook that was suspended while the shop was down is active again. */
export async function checkWebhook(partnerId: string): Promise<void> {
  await kopeckCli('webhook', 'check', partnerId);
}
