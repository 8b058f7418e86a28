import { keepPreviousData, type QueryKey, useQuery } from '@tanstack/react-query';
import { ask } from '../api.ts';

/** Polls `path`, except while the page is hidden. */
export const useLive = <T>(key: QueryKey, path: string, everyMs: number | false) =>
  useQuery({
    queryKey: key,
    queryFn: ({ signal }) => ask<T>(path, signal),
    refetchInterval: everyMs,
    placeholderData: keepPreviousData,
  });

/** Reads `path` once, and again after an action. */
export const useOnce = <T>(key: QueryKey, path: string) =>
  useQuery({ queryKey: key, queryFn: ({ signal }) => ask<T>(path, signal) });
