/**
 * Loaded into a process before its own code (`node --import`): a machine whose clock is wrong by CLOCK_OFFSET_MS, and
 * jumps by CLOCK_JUMP_MS on SIGUSR2.
 */
const trueNow = Date.now;
let offsetMs = Number(process.env.CLOCK_OFFSET_MS ?? 0);

Date.now = () => trueNow() + offsetMs;
globalThis.Date = new Proxy(Date, {
  construct: (target, args, newTarget) =>
    Reflect.construct(target, args.length > 0 ? args : [Date.now()], newTarget),
});

process.on('SIGUSR2', () => {
  offsetMs += Number(process.env.CLOCK_JUMP_MS ?? 0);
});
