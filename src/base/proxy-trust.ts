import type { Settings } from './settings.ts';

/**
 * What is wrong between PUBLIC_URL and TRUST_PROXY, with the fix; undefined if nothing is. The service speaks plain HTTP, so an
 * https address means that a proxy is in front of it.
 */
export function describeProxyProblem({
  publicUrl,
  trustProxy,
}: Pick<Settings, 'publicUrl' | 'trustProxy'>): string | undefined {
  if (trustProxy.some(range => range.endsWith('/0')))
    return 'TRUST_PROXY trusts every address, so that anybody can claim any address: set it to the address of your proxy';
  if (publicUrl?.startsWith('https:') && trustProxy.length === 0)
    return 'PUBLIC_URL is served by a proxy that is not trusted, so that all callers seem to have its address: set TRUST_PROXY to the address of your proxy';
  return undefined;
}
