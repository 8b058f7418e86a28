import { useSyncExternalStore } from 'react';
import type { Permission, Session } from '../../../src/console/shapes.ts';
import { session } from '../api.ts';
import { useShared } from '../texts/index.ts';
import { type ButtonProps, HintButton } from './fields.tsx';

/** A button of a page, for operators with the permission. */
export function Action({
  needs,
  why,
  ...props
}: ButtonProps & { needs: Permission; why?: string | undefined }) {
  const t = useShared();
  return <HintButton {...props} hint={useMay()(needs) ? why : t.needsRole(t.permissions[needs])} />;
}

/** The session of the signed-in operator; pages are shown only with one. */
export function useSession(): Session {
  const now = useSyncExternalStore(session.subscribe, session.get) as Session | null | undefined;
  if (!now) throw new Error('nobody is signed in');
  return now;
}

export function useMay(): (permission: Permission) => boolean {
  const { permissions } = useSession();
  return permission => permissions.includes(permission);
}
