import { NotAnsweringError } from '../database-errors.ts';

/** One of something for each shard. */
export interface Shards<Part> {
  /** That of the shard to which the partner belongs. */
  of(partner: { shard: number }): Part;
  /** By the number of their shard. */
  all(): Part[];
}

export const shardsOf = <Part>(parts: Part[]): Shards<Part> => ({
  of: ({ shard }) => {
    const part = parts[shard];
    // It was made a moment ago, and this process is about to join the database again.
    if (part === undefined) throw new NotAnsweringError(`the shard ${shard} is new`);
    return part;
  },
  all: () => parts,
});
