import { Alert, Button, Group, Modal, Stack } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useRef, useState } from 'react';
import { useCommon, useSentence } from '../texts/common.ts';
import { useTexts } from '../texts/language.ts';
import { resendTexts } from '../texts/resend.ts';

export interface Report {
  done: number;
  failures: number;
  error: unknown;
}

interface BatchProps {
  title: string;
  says: ReactNode;
  verb: string;
  /** How many there are; it does not start with none. */
  of: number;
  /** Reports how far it is, and ends early when it is stopped. */
  run: (report: (now: Report) => void, isStopped: () => boolean) => Promise<void>;
  onClose: (all: boolean) => void;
}

/** Confirms that events are sent again, and shows how many of them are queued. Open while it is mounted. */
export function BatchDialog({ title, says, verb, of, run, onClose }: BatchProps) {
  const t = useCommon();
  const resend = useTexts(resendTexts);
  const sentence = useSentence();
  const queries = useQueryClient();
  const [progress, setProgress] = useState<Report | null>(null);
  const [isRunning, setRunning] = useState(false);
  const isStopped = useRef(false);

  async function start() {
    setRunning(true);
    setProgress({ done: 0, failures: 0, error: null });
    await run(
      now => setProgress({ ...now }),
      () => isStopped.current,
    );
    setRunning(false);
    void queries.invalidateQueries();
  }

  const close = () => {
    if (!isRunning) onClose(progress !== null && progress.done >= of);
  };
  return (
    <Modal opened onClose={close} title={title} closeButtonProps={{ 'aria-label': t.close }}>
      <Stack gap="md">
        {says}
        {progress && (
          <div role="status">
            <progress
              className="progress"
              max={of}
              value={progress.done + progress.failures}
              aria-label={title}
            />
            <p>{resend.progress(progress.done, of)}</p>
          </div>
        )}
        {progress && progress.error !== null && (
          <Alert color="red" role="alert">
            {progress.failures > 0 && resend.notQueued(progress.failures)} {sentence(progress.error)}
          </Alert>
        )}
        <Group justify="flex-end" gap="sm">
          {isRunning ? (
            <Button
              variant="default"
              onClick={() => {
                isStopped.current = true;
              }}
            >
              {resend.stop}
            </Button>
          ) : (
            <Button variant="default" onClick={close}>
              {progress ? t.done : t.cancel}
            </Button>
          )}
          {of > 0 && (!progress || isRunning) && (
            <Button loading={isRunning} onClick={() => void start()} data-autofocus>
              {verb}
            </Button>
          )}
        </Group>
      </Stack>
    </Modal>
  );
}
