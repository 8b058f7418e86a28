import { demoMinutes, demoPayments } from './arguments.ts';
import { type Context, command, type WithDatabase } from './command.ts';

export const demoCommand = (withDatabase: WithDatabase) =>
  command('demo', 'fill the console with demo payments through the simulator')
    .option('--payments <count>', 'number of payments, up to 10000', demoPayments, 500)
    .option('--minutes <count>', 'minutes to spread them over (0: as fast as possible)', demoMinutes, 0)
    .action(
      withDatabase(async (context: Context, { payments, minutes }: { payments: number; minutes: number }) =>
        // Loaded only here: other commands do not need the service and start faster without it.
        (await import('./demo-run.ts')).demonstrate(context, payments, minutes * 60_000),
      ),
    );
