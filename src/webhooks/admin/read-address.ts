import { createNameLookup, hasPrivateAddress } from '../http/dns.ts';
import { checkWebhookUrl } from '../http/ssrf-guard.ts';

/**
 * The address to store of what somebody typed; undefined if it is not public. The guard against private addresses applies again
 * when events are sent.
 */
export async function readWebhookAddress(text: string, allowPrivate: boolean): Promise<string | undefined> {
  const verdict = checkWebhookUrl(text.trim(), { allowPrivate });
  if (verdict.outcome !== 'ok') return undefined;
  const isPrivate = !allowPrivate && (await hasPrivateAddress(verdict.url.hostname, createNameLookup()));
  return isPrivate ? undefined : verdict.url.href;
}
