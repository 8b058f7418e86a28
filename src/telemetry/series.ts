/** A metric of prom-client whose series differ in labels. */
interface Labelled<Series> {
  labels(...values: string[]): Series;
}

/** Remembers the series of a metric: looking one up by its labels costs more than changing its value. */
export function cacheSeries<Series>(metric: Labelled<Series>): (...values: string[]) => Series {
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
