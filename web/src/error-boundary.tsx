import { Alert, Button } from '@mantine/core';
import { Component, type ReactNode } from 'react';
import { useCommon } from './texts/common.ts';

/** Keeps the rest of the console alive when a page fails, or its file is gone after an update. */
export class ErrorBoundary extends Component<{ children: ReactNode }, { broken: boolean }> {
  override state = { broken: false };

  static getDerivedStateFromError() {
    return { broken: true };
  }

  override render() {
    return this.state.broken ? <Sorry /> : this.props.children;
  }
}

function Sorry() {
  const t = useCommon();
  return (
    <Alert color="red" role="alert" title={t.pageBroke}>
      <p>{t.pageBrokeHint}</p>
      <Button size="xs" variant="default" onClick={() => location.reload()}>
        {t.reload}
      </Button>
    </Alert>
  );
}
