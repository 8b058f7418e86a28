/** Without the line that says that the embedded server takes longer to start than two seconds, as on a slow machine. */
export const withoutWaiting = (text: string) => text.replaceAll(/Waiting for PostgreSQL in [^\n]* …\n/g, '');
