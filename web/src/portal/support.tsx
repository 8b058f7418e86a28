import { useSyncExternalStore } from 'react';
import { outside } from '../api.ts';
import { usePortal } from './texts/index.ts';

/** Null: there is nowhere to send people. */
export const supportUrl = outside<string | null>(null);

/** The end of a text that leads to support: the link, or without SUPPORT_URL what else to do. */
export function Support({ ask, otherwise }: { ask?: string; otherwise: string }) {
  const t = usePortal();
  const url = useSyncExternalStore(supportUrl.subscribe, supportUrl.get);
  return url === null ? (
    otherwise
  ) : (
    <a href={url} target="_blank" rel="noopener noreferrer">
      {ask ?? t.contactSupport}
    </a>
  );
}
