import type { Command } from 'commander';
import { demoMinutes, demoPayments } from './arguments.ts';
import { command, type WithDatabase } from './command.ts';

export function demoCommand(withDatabase: WithDatabase): Command {
  return command('demo', 'fill the console with demo payments through the simulator')
    .option('--payments <count>', 'number of payments, up to 10000', demoPayments, 500)
    .option('--minutes <count>', 'minutes to spread them over (0: as fast as possible)', demoMinutes, 0)
    .action(({ json, payments, minutes }) =>
      withDatabase(json, async context => {
        // Loaded only here: other commands do not need the service and start faster without it.
        const { demonstrate } = await import('./demo-run.ts');
        return demonstrate(context, payments, minutes * 60_000);
      }),
    );
}
