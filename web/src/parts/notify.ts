import { notifications } from '@mantine/notifications';
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
