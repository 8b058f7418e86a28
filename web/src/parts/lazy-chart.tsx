import { type ComponentProps, lazy, Suspense } from 'react';
import type { Chart } from './chart.tsx';
import { orReload } from './lazy-page.tsx';

const Later = lazy(() => orReload(import('./chart.tsx')).then(part => ({ default: part.Chart })));

/** A chart on a page that shows the rest before it. */
export const LazyChart = (props: ComponentProps<typeof Chart>) => (
  <Suspense fallback={<div className="chart-placeholder" />}>
    <Later {...props} />
  </Suspense>
);
