import { NotAnsweringError } from '../database-errors.ts';
import { unusableShard } from './availability.ts';

/** One of something for each shard. */
export interface Shards<Part> {
  /** That of the shard to which the partner belongs. */
  of(partner: { shard: number }): Part;
  /** By the number of their shard. */
  all(): Part[];
}

/** `whyNot` says why a shard cannot be used now. */
export const shardsOf = <Part>(
  parts: Part[],
  whyNot: (shard: number) => string | undefined = () => undefined,
): Shards<Part> => ({
  of: ({ shard }) => {
    const part = parts[shard];
    // It was made a moment ago, and this process is about to join the database again.
    if (part === undefined) throw new NotAnsweringError(`the shard ${shard} is new`);
    const reason = whyNot(shard);
    if (reason !== undefined) throw unusableShard(shard, reason);
    return part;
  },
  all: () => parts,
});
