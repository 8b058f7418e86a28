import { Button, type ButtonProps, Tooltip } from '@mantine/core';
import { type ComponentPropsWithoutRef, useSyncExternalStore } from 'react';
import type { Permission, Session } from '../../../src/console/shapes/access.ts';
import { session } from '../api.ts';
import { useShared } from '../texts/index.ts';

interface ActionProps extends ButtonProps, Omit<ComponentPropsWithoutRef<'button'>, keyof ButtonProps> {
  needs: Permission;
  /** Why the action is not possible now. */
  why?: string | undefined;
}

/** A button that explains why it is disabled and can still get the focus. */
export function Action({ needs, why, onClick, ...props }: ActionProps) {
  const t = useShared();
  const may = useMay();
  const hint = may(needs) ? why : t.needsRole(t.permissions[needs]);
  if (!hint) return <Button size="xs" variant="default" onClick={onClick} {...props} />;
  return (
    <Tooltip label={hint} multiline maw={320}>
      <Button
        size="xs"
        variant="default"
        {...props}
        data-disabled
        aria-disabled="true"
        aria-description={hint}
      />
    </Tooltip>
  );
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
