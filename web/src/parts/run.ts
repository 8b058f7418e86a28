import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useCommon } from '../texts/common.ts';
import { useNotify } from './notify.ts';

/** Runs an action that needs no confirmation, shows its result, and reloads the page's data. */
export function useRun(): { pending: boolean; run: (what: () => Promise<unknown>, said?: string) => void } {
  const t = useCommon();
  const notify = useNotify();
  const queries = useQueryClient();
  const [pending, setPending] = useState(false);
  async function run(what: () => Promise<unknown>, said: string) {
    if (pending) return;
    setPending(true);
    try {
      await what();
      notify.done(said);
    } catch (error) {
      notify.failed(error);
    } finally {
      setPending(false);
      void queries.invalidateQueries();
    }
  }
  return { pending, run: (what, said = t.done) => void run(what, said) };
}
