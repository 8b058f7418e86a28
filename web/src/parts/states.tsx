import { Alert, Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { Refused } from '../api.ts';
import { useCommon, useSentence } from '../texts/common.ts';

/** An empty list explains what would be in it, and what to do. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <p className="empty-title">{title}</p>
      {children && <p className="dim">{children}</p>}
    </div>
  );
}

/** Data could not be loaded. */
export function Failure({ error, again }: { error: unknown; again?: () => void }) {
  const t = useCommon();
  const sentence = useSentence();
  // The banner above the page already shows it.
  if (error instanceof Refused && error.code === 'no_connection') return null;
  return (
    <Alert color="red" role="alert" mb="md">
      <div className="between">
        <span>{sentence(error)}</span>
        {again && (
          <Button size="xs" variant="default" onClick={again}>
            {t.tryAgain}
          </Button>
        )}
      </div>
    </Alert>
  );
}
