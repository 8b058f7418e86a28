import { notifications } from '@mantine/notifications';
import { useSentence, useShared } from '../texts/index.ts';

/** Says in a corner of the window how something went. */
export function useTell(): { done: (message: string) => void; failed: (error: unknown) => void } {
  const t = useShared();
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
