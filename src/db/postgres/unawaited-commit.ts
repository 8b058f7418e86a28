/**
 * For the FROM of a statement that writes nothing of value, such as the last use of a key or a token of a rate limit: its commit
 * waits neither for the disk nor for a synchronous standby. So reads of partners and operators go on while there is none.
 */
export const commitsWithoutWaiting =
  "set_config('synchronous_commit', 'off', true) AS commits_without_waiting";
