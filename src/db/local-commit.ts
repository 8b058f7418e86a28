/**
 * For the FROM of a statement that writes nothing of value, such as the last use of a key: its commit does not wait for a
 * synchronous standby. So reads of partners and operators go on while there is none.
 */
export const commitsLocally = "set_config('synchronous_commit', 'local', true) AS commits_locally";
