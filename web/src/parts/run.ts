import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useShared } from '../texts/index.ts';
import { useTell } from './tell.ts';

/** Does something that needs no question beforehand, says how it went, and has the page read anew. */
export function useRun(): { pending: boolean; run: (what: () => Promise<unknown>, said?: string) => void } {
  const t = useShared();
  const tell = useTell();
  const queries = useQueryClient();
  const [pending, setPending] = useState(false);
  async function run(what: () => Promise<unknown>, said: string) {
    if (pending) return;
    setPending(true);
    try {
      await what();
      tell.done(said);
    } catch (error) {
      tell.failed(error);
    } finally {
      setPending(false);
      void queries.invalidateQueries();
    }
  }
  return { pending, run: (what, said = t.done) => void run(what, said) };
}
