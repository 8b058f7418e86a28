import { notifications } from '@mantine/notifications';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useCommon, useSentence } from '../texts/common.ts';

/** Shows the result of an action as a notification in the corner of the window. */
export function useNotify(): { done: (message: string) => void; failed: (error: unknown) => void } {
  const t = useCommon();
  const sentence = useSentence();
  const closeButtonProps = { 'aria-label': t.close };
  return {
    done: message => void notifications.show({ message, color: 'teal', closeButtonProps }),
    failed: error =>
      void notifications.show({
        message: sentence(error),
        color: 'red',
        role: 'alert',
        autoClose: 10_000,
        closeButtonProps,
      }),
  };
}

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

/** Sends a form; why it was refused last is shown in the form. */
export function useAttempt() {
  const [pending, setPending] = useState(false);
  const [refusal, setRefusal] = useState<unknown>(null);
  async function attempt(what: () => Promise<unknown>, onRefused?: () => void): Promise<void> {
    setPending(true);
    setRefusal(null);
    try {
      await what();
    } catch (error) {
      setRefusal(error);
      onRefused?.();
    } finally {
      setPending(false);
    }
  }
  return { pending, refusal, attempt };
}
