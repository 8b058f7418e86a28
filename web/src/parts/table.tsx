import { Button, Skeleton } from '@mantine/core';
import { keepPreviousData, type QueryKey, useInfiniteQuery } from '@tanstack/react-query';
import { type ReactNode, useCallback, useState } from 'react';
import { Link } from 'wouter';
import type { Page } from '../../../src/web/shapes.ts';
import { ask } from '../api.ts';
import { useCommon } from '../texts/common.ts';
import { Empty, Failure } from './states.tsx';

export interface Column<Row> {
  head: string;
  cell: (row: Row) => ReactNode;
  /** Numbers are aligned right. */
  right?: boolean;
  /** Left out where the window is narrow. */
  wideOnly?: boolean;
}

interface RowsProps<Row> {
  /** The label for screen readers. */
  label: string;
  columns: Column<Row>[];
  rows: Row[];
  keyOf: (row: Row) => string;
  /** The page of a row; the first cell becomes a link that covers the row. */
  hrefOf?: ((row: Row) => string) | undefined;
  empty?: ReactNode;
}

/** A table. In a narrow window its rows become cards. */
export function Rows<Row>({ label, columns, rows, keyOf, hrefOf, empty }: RowsProps<Row>) {
  const t = useCommon();
  const [isScrollable, watch] = useScrollable();
  if (rows.length === 0) return empty ?? <Empty title={t.nothing} />;
  return (
    <div
      className="table-frame"
      ref={watch}
      {...(isScrollable ? { tabIndex: 0, role: 'region', 'aria-label': label } : {})}
    >
      <table className="table" aria-label={label}>
        <thead>
          <tr>
            {columns.map(column => (
              <th key={column.head} scope="col" className={classOf(column)}>
                {column.head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(row => (
            <tr key={keyOf(row)} className={hrefOf ? 'row-link' : undefined}>
              {columns.map((column, index) => (
                <td key={column.head} className={classOf(column)} data-label={column.head}>
                  {hrefOf && index === 0 ? (
                    <Link href={hrefOf(row)} data-row>
                      {column.cell(row)}
                    </Link>
                  ) : (
                    column.cell(row)
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Whether a table is wider than its frame: then it takes the focus, so that the arrow keys scroll it. */
function useScrollable(): [boolean, (frame: HTMLDivElement | null) => (() => void) | undefined] {
  const [isScrollable, setScrollable] = useState(false);
  const watch = useCallback((frame: HTMLDivElement | null) => {
    if (!frame) return;
    const observer = new ResizeObserver(() => setScrollable(frame.scrollWidth > frame.clientWidth));
    observer.observe(frame);
    return () => observer.disconnect();
  }, []);
  return [isScrollable, watch];
}

const classOf = <Row,>(column: Column<Row>) =>
  [column.right && 'right', column.wideOnly && 'wide-only'].filter(Boolean).join(' ') || undefined;

interface KeysetProps<Row> extends Omit<RowsProps<Row>, 'rows'> {
  queryKey: QueryKey;
  /** With its filters, without `after`. */
  path: string;
  everyMs?: number;
  /** No more polling after an error; the operator may try again. Without it, the list goes on when the server is back. */
  stopsOnError?: boolean;
  /** Instead of `empty` if the search can be continued. */
  emptySoFar?: ReactNode;
  /** Shown above the rows, if there are any. */
  above?: (rows: Row[]) => ReactNode;
}

/** A paged list. It polls while only the first page is shown. */
export function KeysetTable<Row>({
  queryKey,
  path,
  everyMs,
  stopsOnError,
  above,
  empty,
  emptySoFar = empty,
  ...table
}: KeysetProps<Row>) {
  const t = useCommon();
  const list = useInfiniteQuery({
    queryKey: [...queryKey, path],
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) => {
      const after = pageParam
        ? `${path.includes('?') ? '&' : '?'}after=${encodeURIComponent(pageParam)}`
        : '';
      return ask<Page<Row>>(path + after, signal);
    },
    getNextPageParam: last => last.next_cursor,
    refetchInterval: ({ state }) => {
      if (stopsOnError && state.status === 'error') return false;
      return everyMs && (state.data?.pages.length ?? 0) <= 1 ? everyMs : false;
    },
    placeholderData: keepPreviousData,
  });
  if (list.isPending) return <Waiting />;
  if (!list.data) return <Failure error={list.error} again={() => void list.refetch()} />;
  const rows = list.data.pages.flatMap(page => page.data);
  return (
    <div aria-busy={list.isPlaceholderData} className={list.isPlaceholderData ? 'fading' : undefined}>
      {list.isError && <Failure error={list.error} again={() => void list.refetch()} />}
      {rows.length > 0 && above?.(rows)}
      <Rows rows={rows} empty={list.hasNextPage ? emptySoFar : empty} {...table} />
      {list.hasNextPage && (
        <div className="more">
          <Button
            variant="default"
            size="xs"
            loading={list.isFetchingNextPage}
            onClick={() => void list.fetchNextPage()}
          >
            {t.more}
          </Button>
        </div>
      )}
    </div>
  );
}

/** Shown while data is loading. */
export function Waiting({ rows = 6 }: { rows?: number }) {
  const t = useCommon();
  return (
    <div role="status" aria-busy="true" aria-label={t.loading} className="waiting">
      {Array.from({ length: rows }, (_, index) => `line-${index}`).map(key => (
        <Skeleton key={key} height={28} radius="sm" />
      ))}
    </div>
  );
}
