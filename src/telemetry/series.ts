import type { CounterConfiguration, HistogramConfiguration, Registry } from 'prom-client';
import { prometheus } from './prometheus.ts';

/** A metric of prom-client whose series differ in labels. */
interface Labelled<Series> {
  labels(...values: string[]): Series;
}

/** Remembers the series of a metric: looking one up by its labels costs more than changing its value. */
function cacheSeries<Series>(metric: Labelled<Series>): (...values: string[]) => Series {
  const known = new Map<string, Series>();
  return (...values) => {
    const name = values.join(' ');
    let series = known.get(name);
    if (series === undefined) {
      series = metric.labels(...values);
      known.set(name, series);
    }
    return series;
  };
}

/** Makes metrics with labels in a registry, each as a function that gives the series of some labels. */
export function createSeries(registry: Registry) {
  const { Counter, Histogram } = prometheus();
  const registers = [registry];
  return {
    counter: (options: CounterConfiguration<string>) => cacheSeries(new Counter({ ...options, registers })),
    histogram: (options: HistogramConfiguration<string>) =>
      cacheSeries(new Histogram({ ...options, registers })),
  };
}
