import { Alert, type AlertProps, Button, Skeleton } from '@mantine/core';
import { keepPreviousData, type UseQueryResult, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { type ReactNode, useCallback, useEffect, useState } from 'react';
import { Link } from 'wouter';
import type { Page } from '../../../src/web/shapes.ts';
import { ask, Refused } from '../api.ts';
import { useCommon, useSentence } from '../texts/common.ts';

interface PageProps {
  title: string;
  /** Next to the title. */
  badge?: ReactNode;
  /** A line under the title. */
  lead?: ReactNode;
  /** The actions of the page. */
  actions?: ReactNode;
  children: ReactNode;
}

/** The frame of a page: its title, its actions, its content. */
export function PageFrame({ title, badge, lead, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Kopeck`;
  }, [title]);
  return (
    <>
      <header className="page-head">
        <div>
          <div className="page-title">
            <h1>{title}</h1>
            {badge}
          </div>
          {lead && <p className="dim">{lead}</p>}
        </div>
        {actions && <div className="actions">{actions}</div>}
      </header>
      {children}
    </>
  );
}

/** A section of a page with its own title. */
export function Card({ title, side, children }: { title?: string; side?: ReactNode; children: ReactNode }) {
  return (
    <section className="card">
      {title && (
        <div className="between card-head">
          <h2>{title}</h2>
          {side}
        </div>
      )}
      {children}
    </section>
  );
}

/** Without a value: nothing to show. */
export type Fact = [name: string, value: ReactNode] | false | null | undefined | '';

/** Names and their values. */
export function Facts({ facts }: { facts: Fact[] }) {
  return (
    <dl className="facts">
      {facts
        .filter(fact => !!fact)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

/** An empty list explains what would be in it, and what to do. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <p className="empty-title">{title}</p>
      {children && <p className="dim">{children}</p>}
    </div>
  );
}

/** Why a form was refused. */
export function WhyRefused({ error, ...props }: { error: unknown } & Pick<AlertProps, 'mb'>) {
  const sentence = useSentence();
  if (error === null) return null;
  return (
    <Alert color="red" role="alert" {...props}>
      {sentence(error)}
    </Alert>
  );
}

/** Data could not be loaded. */
export function Failure({ error, again }: { error: unknown; again?: () => void }) {
  const t = useCommon();
  const sentence = useSentence();
  // The banner above the page already shows it.
  if (error instanceof Refused && error.code === 'no_connection') return null;
  return (
    <Alert color="red" role="alert" mb="md">
      <div className="between">
        <span>{sentence(error)}</span>
        {again && (
          <Button size="xs" variant="default" onClick={again}>
            {t.tryAgain}
          </Button>
        )}
      </div>
    </Alert>
  );
}

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
    queryKey: ['pages', path],
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

interface LoadedProps<T> {
  of: UseQueryResult<T>;
  children?: (data: T) => ReactNode;
}

/** What was read; before it placeholders, and why it cannot be read. */
export const Loaded = <T,>({ of, children }: LoadedProps<T>) => (
  <>
    {of.isError && <Failure error={of.error} again={() => void of.refetch()} />}
    {of.isPending && <Waiting />}
    {of.data !== undefined && children?.(of.data)}
  </>
);

/** Polls `path`, except while the page is hidden. */
export const useLive = <T,>(path: string, everyMs: number | false) =>
  useQuery({
    queryKey: [path],
    queryFn: ({ signal }) => ask<T>(path, signal),
    refetchInterval: everyMs,
    placeholderData: keepPreviousData,
  });

/** Reads `path` once, and again after an action. */
export const useOnce = <T,>(path: string) =>
  useQuery({ queryKey: [path], queryFn: ({ signal }) => ask<T>(path, signal) });
