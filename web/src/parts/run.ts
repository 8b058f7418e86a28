import { notifications } from '@mantine/notifications';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useSentence, useShared } from '../texts/index.ts';

/** Does something that needs no question beforehand, says how it went, and has the page read anew. */
export function useRun(): { pending: boolean; run: (what: () => Promise<unknown>, said?: string) => void } {
  const t = useShared();
  const sentence = useSentence();
  const queries = useQueryClient();
  const [pending, setPending] = useState(false);
  async function run(what: () => Promise<unknown>, said: string) {
    if (pending) return;
    setPending(true);
    try {
      await what();
      notifications.show({ message: said, color: 'teal' });
    } catch (error) {
      notifications.show({ message: sentence(error), color: 'red', role: 'alert', autoClose: 10_000 });
    } finally {
      setPending(false);
      void queries.invalidateQueries();
    }
  }
  return { pending, run: (what, said = t.done) => void run(what, said) };
}
