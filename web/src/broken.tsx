import { Alert, Button } from '@mantine/core';
import { Component, type ReactNode } from 'react';
import { useShared } from './texts/index.ts';

/** A page that fails, or whose file is no longer there after an update, takes nothing else with it. */
export class Broken extends Component<{ children: ReactNode }, { broken: boolean }> {
  override state = { broken: false };

  static getDerivedStateFromError() {
    return { broken: true };
  }

  override render() {
    return this.state.broken ? <Sorry /> : this.props.children;
  }
}

function Sorry() {
  const t = useShared();
  return (
    <Alert color="red" role="alert" title={t.pageBroke}>
      <p>{t.pageBrokeHint}</p>
      <Button size="xs" variant="default" onClick={() => location.reload()}>
        {t.reload}
      </Button>
    </Alert>
  );
}
